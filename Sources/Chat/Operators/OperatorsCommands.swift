let operatorCommands: [Command] =
    [operCommand, killCommand, wallopsCommand, rehashCommand] + banCommands + [lockdownCommand, eraseCommand]
    + suspensionCommands + [accountCommand]
