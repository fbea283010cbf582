import Bytes
import Wire

/// Lists `b`, `e`, `I` and extended bans `a:account`, `u:uid`, `m:mask` (mute).
extension World {
    func isBanned(_ user: UserID, from channel: ChannelID) -> Bool {
        isListed(user, 0x62, channel) && !isListed(user, 0x65, channel)
    }

    /// Muted by `m:` entries: may be in, may not speak. Exceptions hold with and without `m:`.
    func isMuted(_ user: UserID, in channel: ChannelID) -> Bool {
        isListedForMute(user, 0x62, channel) && !isListedForMute(user, 0x65, channel)
            && !isListed(user, 0x65, channel)
    }

    private func isListedForMute(_ user: UserID, _ list: UInt8, _ channel: ChannelID) -> Bool {
        guard let entries = channels[channel].lists[list], !entries.isEmpty else { return false }
        return entries.contains { entry in
            entry.mask.withView { mask in
                extended(mask, 0x6D).map { matches($0, user) } ?? false
            }
        }
    }

    func isListed(_ user: UserID, _ list: UInt8, _ channel: ChannelID) -> Bool {
        guard let entries = channels[channel].lists[list], !entries.isEmpty else { return false }
        return entries.contains { entry in entry.mask.withView { matches($0, user) } }
    }

    /// Masks are compared with what everybody sees and with the real address, so that a ban by address holds for a
    /// cloaked user too.
    func matches(_ mask: ByteView, _ user: UserID) -> Bool {
        if extended(mask, 0x6D) != nil { return false }
        if let account = extended(mask, 0x61) {
            let own = users[user].account
            return !own.isEmpty && own.withView { Mask.matches(account, $0) }
        }
        if let uid = extended(mask, 0x75) { return users[user].uid.text.withView { uid.equalsIgnoringCase($0) } }
        if users[user].source.withView({ Mask.matches(mask, $0) }) { return true }
        return users[user].sessions.contains { session in
            let real: ByteString = "\(users[user].nick)!\(users[user].username)@\(sessions[session].peer.address)"
            return real.withView { Mask.matches(mask, $0) }
        }
    }

    /// The rest of `x:rest` or `~x:rest`.
    private func extended(_ mask: ByteView, _ letter: UInt8) -> ByteView? {
        let mask = mask.first == 0x7E ? mask.dropFirst() : mask
        guard mask.count > 2, mask[0] == letter, mask[1] == 0x3A else { return nil }
        return mask.dropFirst(2)
    }
}
