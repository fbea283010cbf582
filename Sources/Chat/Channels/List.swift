import Bytes
import Wire

let listCommand = Command(
    "LIST", access: .visitor, cost: 2000, source: "Modern IRC, LIST",
    help: [
        "LIST [<what>[,<what>…]]", "Shows channels with members and topic. <what> is a name, a mask (*cat*), its",
        "opposite (!*cat*), members (>10 or <10), age in minutes (C>60 or C<60), topic's age (T>60 or T<60).",
        "Example: LIST *cat*,>2",
    ]
) { world, turn in world.list(turn) }

/// What LIST is asked for (Modern IRC, ELIST=CMNTU). Names and masks widen, everything else narrows.
private struct ListFilter {
    var names: [ByteView] = []
    var masks: [ByteView] = []
    var refused: [ByteView] = []
    var members = Bounds()
    /// Minutes.
    var age = Bounds()
    /// Minutes.
    var topicAge = Bounds()

    init(_ text: ByteView) {
        for part in text.parts(0x2C) where !readBound(part) {
            if part.first == 0x21 {
                refused.append(part.dropFirst())
            } else if part.contains(0x2A) || part.contains(0x3F) {
                masks.append(part)
            } else {
                names.append(part)
            }
        }
    }

    /// `>n`, `<n`, with `C` or `T` before it.
    private mutating func readBound(_ part: ByteView) -> Bool {
        let kind = ASCII.upper(part[0])
        let isTimed = kind == UInt8(ascii: "C") || kind == UInt8(ascii: "T")
        let rest = isTimed ? part.dropFirst() : part
        guard let sign = rest.first, sign == 0x3C || sign == 0x3E, let number = rest.dropFirst().decimal() else {
            return false
        }
        switch kind {
        case UInt8(ascii: "C"): age.narrow(sign, number)
        case UInt8(ascii: "T"): topicAge.narrow(sign, number)
        default: members.narrow(sign, number)
        }
        return true
    }

    /// Everything but names and masks.
    func allows(_ channel: borrowing Channel, seconds: Int64) -> Bool {
        let state = channel.state
        if !members.isOpen, !members.holds(channel.members.count) { return false }
        if !age.isOpen, !age.holds(seconds: seconds - state.created) { return false }
        if !topicAge.isOpen, state.topic.isEmpty || !topicAge.holds(seconds: seconds - state.topicTime) { return false }
        return !refused.contains { mask in state.name.withView { Mask.matches(mask, $0) } }
    }
}

private struct Bounds {
    /// More than this.
    var above: Int?
    /// Less than this.
    var below: Int?

    var isOpen: Bool { above == nil && below == nil }

    mutating func narrow(_ sign: UInt8, _ number: Int) {
        if sign == 0x3E { above = max(above ?? number, number) } else { below = min(below ?? number, number) }
    }

    func holds(_ value: Int) -> Bool { value > above ?? -1 && value < below ?? .max }

    func holds(seconds: Int64) -> Bool {
        let seconds = Int(seconds)
        // `>0` is everything, what was made this second too; `<0` is nothing.
        if let above, above > 0, seconds <= above * 60 { return false }
        return below.map { seconds < $0 * 60 } ?? true
    }
}

extension World {
    fileprivate mutating func list(_ turn: Turn) {
        if isListTooEarly(turn) { return }
        let filter = ListFilter(turn.parameter(0) ?? .empty)
        reply(turn, .RPL_LISTSTART, "Channel :Users  Name")
        var named = Set<ChannelID>()
        for name in filter.names {
            if let channel = channel(named: name), named.insert(channel).inserted { list(turn, channel, filter) }
        }
        if filter.names.isEmpty || !filter.masks.isEmpty {
            for slot in 0..<channels.slots {
                guard let channel = channels.id(at: slot), !named.contains(channel) else { continue }
                if filter.masks.isEmpty || isMatched(channel, filter) { list(turn, channel, filter) }
            }
        }
        reply(turn, .RPL_LISTEND, ":End of /LIST")
    }

    /// Who only comes for the names of the channels does not stay for them (`limits.list-delay`).
    mutating func isListTooEarly(_ turn: Turn) -> Bool {
        let left = settings.limits.listDelay - (now.steady - sessions[turn.session].connected)
        guard settings.limits.listDelay > 0, left > 0 else { return false }
        if let user = turn.user, users[user].isOperator || !users[user].account.isEmpty { return false }
        reply(
            turn, .RPL_TRYAGAIN,
            "\(turn.command) :Please wait a while and try again: guests get the list in \((left + 999) / 1000) s")
        return true
    }

    private func isMatched(_ channel: ChannelID, _ filter: ListFilter) -> Bool {
        channels[channel].name.withView { name in filter.masks.contains { Mask.matches($0, name) } }
    }

    private mutating func list(_ turn: Turn, _ channel: ChannelID, _ filter: ListFilter) {
        guard may(turn.user, know: .existence, of: channel),
            filter.allows(channels[channel], seconds: now.wall / 1000)
        else { return }
        let count = channels[channel].members.count
        let state = channels[channel].state
        let topic = may(turn.user, know: .topic, of: channel) ? state.topic : ""
        reply(turn, .RPL_LIST, "\(state.name) \(count) :\(topic)")
    }
}
