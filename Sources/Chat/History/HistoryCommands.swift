import Bytes
import Wire

let historyCommands: [Command] = [chathistoryCommand, historyCommand, markreadCommand]
