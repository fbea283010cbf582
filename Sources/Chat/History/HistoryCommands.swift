import Bytes
import Wire

let historyCommands: [Command] = [
    chathistoryCommand, conversationsCommand, historyCommand, markreadCommand, searchCommand,
]
