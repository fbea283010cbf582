let channelCommands: [Command] = [joinCommand, partCommand]
