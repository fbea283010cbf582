import Bytes
import Wire

/// MODE for the lists `b`, `e`, `I`.
extension World {
    /// 367/368, 348/349, 346/347. Who is banned may be known by everyone, exceptions by who can change them.
    mutating func tellList(_ letter: UInt8, of channel: ChannelID, _ turn: Turn) {
        if !may(turn.me, know: letter == UInt8(ascii: "b") ? .bans : .exceptions, of: channel) {
            return isMember(turn.me, of: channel) ? refuseRank(turn, channel) : refuseNonMember(turn, channel)
        }
        let name = channels[channel].name
        let entries = channels[channel].lists[letter] ?? []
        let (item, end, title): (Numeric, Numeric, StaticString) =
            switch letter {
            case UInt8(ascii: "e"): (.RPL_EXCEPTLIST, .RPL_ENDOFEXCEPTLIST, "exception list")
            case UInt8(ascii: "I"): (.RPL_INVEXLIST, .RPL_ENDOFINVEXLIST, "invite exception list")
            default: (.RPL_BANLIST, .RPL_ENDOFBANLIST, "ban list")
            }
        for entry in entries { reply(turn, item, "\(name) \(entry.mask) \(entry.setter) \(entry.time)") }
        reply(turn, end, "\(name) :End of channel \(title)")
    }

    mutating func changeList(_ change: ModeChange, _ work: inout ModeWork) {
        guard let mask = change.parameter.flatMap({ listMask($0) }) else {
            return refuseParameter(
                change, work, "Write nick!user@host (with * and ?), a:account, u:uid, or m:mask to mute")
        }
        let entries = channels[work.channel].lists[change.letter] ?? []
        let at = entries.firstIndex { entry in
            entry.mask.withView { known in mask.withView { known.equalsIgnoringCase($0) } }
        }
        if change.adding {
            if at == nil { addEntry(mask, change, &work) }
        } else if let at {
            channels[work.channel].lists[change.letter]?.remove(at: at)
            let channel = channels[work.channel].state.id
            save(.removeListEntry(channel: channel, mode: change.letter, mask: entries[at].mask))
            work.apply(change, entries[at].mask)
        }
    }

    private mutating func addEntry(_ mask: ByteString, _ change: ModeChange, _ work: inout ModeWork) {
        let state = channels[work.channel].state
        guard channels[work.channel].lists[change.letter, default: []].count < settings.limits.listEntries else {
            return reply(
                work.turn, .ERR_BANLISTFULL, "\(state.name) \(byte: change.letter) :Channel list is full")
        }
        let entry = ListEntry(mask: mask, setter: users[work.turn.me].source, time: now.wall / 1000)
        channels[work.channel].lists[change.letter, default: []].append(entry)
        save(.addListEntry(channel: state.id, mode: change.letter, entry))
        work.apply(change, mask)
    }

    /// A mask in its full form; nil: it cannot be one. 200 bytes leave room for the setter in a list's line.
    private func listMask(_ text: ByteView) -> ByteString? {
        guard let mask = normalized(text), mask.count <= 200, mask.withView({ Message.isMiddle($0) }) else {
            return nil
        }
        return mask
    }

    private func normalized(_ text: ByteView) -> ByteString? {
        if text.isEmpty { return nil }
        guard Mask.isExtended(text) else { return Mask.normalize(text) }
        let isMarked = text.first == 0x7E
        let plain = isMarked ? text.dropFirst() : text
        let rest = plain.dropFirst(2)
        switch ASCII.lower(plain[0]) {
        case UInt8(ascii: "a") where !rest.isEmpty && !rest.contains(0x3A): return "a:\(rest)"
        case UInt8(ascii: "u") where UID(rest) != nil: return "u:\(rest)"
        case UInt8(ascii: "m") where !rest.isEmpty: return normalized(rest).map { "m:\($0)" }
        // An address of IPv6 may begin like an extended mask.
        default: return isMarked ? nil : "*!*@\(plain)"
        }
    }
}
