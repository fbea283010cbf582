let queryCommands: [Command] = [
    helpCommand, helpopCommand, whoCommand, whoisCommand, whowasCommand, userhostCommand, isonCommand, lusersCommand,
    motdCommand, versionCommand, isupportCommand, timeCommand, infoCommand, adminCommand, linksCommand, statsCommand,
    usersCommand,
    summonCommand,
]
