let receiptCommands: [Command] = [receiptsCommand]
