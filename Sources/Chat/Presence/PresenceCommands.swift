import Bytes
import Wire

let presenceCommands: [Command] = []

extension World {
    mutating func announceOnline(_ user: UserID) {}
    mutating func announceOffline(_ user: UserID) {}
    mutating func announceNickChange(_ user: UserID, from old: ByteString, to new: ByteString) {}
}
