import Bytes
import Wire

let historyCommands: [Command] = []

extension World {
    /// The last messages of a channel, for who just came in. They stand between the channel's names and what is said
    /// from now on: the session's output waits in a reply slot until the reader has answered.
    mutating func replay(_ channel: ChannelID, to session: ConnectionID, upTo newest: Int64) {
        if settings.replay == 0 || capabilities[Int(session.index)].contains(.chathistory) { return }
    }

    mutating func answered(_ page: HistoryPage) {}
}
