let presenceCommands: [Command] = [
    awayCommand, setnameCommand, monitorCommand, acksCommand, lastseenCommand, acceptCommand,
]
