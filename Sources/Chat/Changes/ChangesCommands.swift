let changeCommands: [Command] = [editCommand, redactCommand]
