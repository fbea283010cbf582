let channelCommands: [Command] =
    [
        joinCommand, partCommand, modeCommand, topicCommand, namesCommand, listCommand, kickCommand, inviteCommand,
        dropCommand, renameCommand, channelsCommand, retentionCommand,
    ] + chanServCommands
