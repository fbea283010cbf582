let changeCommands: [Command] = [changesCommand, editCommand, redactCommand]
