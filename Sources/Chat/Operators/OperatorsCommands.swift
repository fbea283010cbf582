let operatorCommands: [Command] = [operCommand, killCommand, wallopsCommand, rehashCommand]
