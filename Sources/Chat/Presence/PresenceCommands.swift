import Bytes
import Wire

let presenceCommands: [Command] = [awayCommand, setnameCommand, acksCommand]

extension World {
    mutating func announceOnline(_ user: UserID) {}

    /// Who leaves is counted no more.
    mutating func announceOffline(_ user: UserID) { setModes(user, []) }

    mutating func announceNickChange(_ user: UserID, from old: ByteString, to new: ByteString) {}
}
