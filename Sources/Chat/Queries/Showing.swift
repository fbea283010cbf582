import Bytes
import Wire

/// Who may see what, and how it fits into lines.
extension World {
    /// `+i` hides a user from who does not name it and shares no channel with it (Modern IRC, user modes).
    func mayFind(_ user: UserID, _ viewer: UserID?) -> Bool {
        if !users[user].modes.contains(.invisible) { return true }
        guard let viewer else { return false }
        return viewer == user || users[viewer].isOperator || shareChannel(viewer, user)
    }

    /// Real addresses are for operators with the privilege and for oneself.
    func maySeeAddress(of user: UserID, _ viewer: UserID?) -> Bool {
        viewer.map { $0 == user || isPrivileged($0, .seeAddresses) } ?? false
    }

    /// Whether a reply may tell that `user` is in `channel`.
    func mayPlace(_ user: UserID, in channel: ChannelID, _ viewer: UserID?) -> Bool {
        if let viewer, viewer == user || isMember(viewer, of: channel) { return true }
        return may(viewer, know: .members, of: channel) && mayFind(user, viewer)
    }

    /// What a client sent, as one word of an answer to it.
    func shown(_ parameter: ByteView, atMost limit: Int = 64) -> ByteString {
        firstWord(ByteString(parameter.prefix(UTF8Check.scalarBoundary(parameter, atMost: limit))))
    }

    /// Text from parameter `index` on: who types by hand forgets the colon before it.
    func freeText(_ turn: Turn, _ index: Int) -> ByteView {
        if sessions[turn.session].isPlain { return turn.message.rest(from: index) }
        return turn.parameter(index) ?? .empty
    }

    /// What to do next, for who types by hand.
    func hint(_ turn: Turn, _ text: StaticString) -> ByteString {
        sessions[turn.session].manner == .client ? "" : ByteString(ByteView(text))
    }

    /// An address as a parameter that is not the last: `::1` would be taken for one.
    func addressWord(_ address: ByteString) -> ByteString { address.bytes.first == 0x3A ? "0\(address)" : address }

    /// Bytes for the parameters of a numeric to this session.
    func room(for session: ConnectionID) -> Int {
        LineLimits.message - settings.serverName.count - nickShown(to: session).count - 9
    }

    /// `<head> :<text>`, the text cut to what the line holds.
    mutating func reply(_ turn: Turn, _ numeric: Numeric, _ head: ByteString, fitting text: ByteString) {
        let start: ByteString = head.isEmpty ? ":" : "\(head) :"
        let left = room(for: turn.session) - start.count
        let cut = text.withView { ByteString($0.prefix(UTF8Check.scalarBoundary($0, atMost: left))) }
        reply(turn, numeric, "\(start)\(cut)")
    }

    /// `<head> :<words>`, on as many lines as it takes; one of no words at least.
    mutating func reply(_ turn: Turn, _ numeric: Numeric, _ head: ByteString, words: [ByteString]) {
        let start: ByteString = head.isEmpty ? ":" : "\(head) :"
        for line in wrap(words, width: room(for: turn.session) - start.count) {
            reply(turn, numeric, "\(start)\(line)")
        }
    }

    /// The `[server]` of a query: this one by its name or a mask, or by the nick of somebody on it. False: 402 was
    /// told.
    mutating func isForHere(_ turn: Turn, _ index: Int = 0) -> Bool {
        guard let target = turn.parameter(index), !target.isEmpty else { return true }
        if settings.serverName.withView({ Mask.matches(target, $0) }) || user(named: target) != nil { return true }
        reply(turn, .ERR_NOSUCHSERVER, "\(shown(target)) :No such server\(hint(turn, "; there is only this one"))")
        return false
    }
}

/// Words joined by spaces (or another separator), as many to a line as fit; an empty line for none.
func wrap(_ words: [ByteString], width: Int, separator: UInt8 = 0x20) -> [ByteString] {
    var lines: [ByteString] = []
    var line: ByteString = ""
    for word in words {
        if !line.isEmpty, line.count + 1 + word.count > width {
            lines.append(line)
            line = ""
        }
        line = line.isEmpty ? word : "\(line)\(byte: separator)\(word)"
    }
    return lines + [line]
}
