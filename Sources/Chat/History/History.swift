import Bytes
import Wire

let historyCommand = Command(
    "HISTORY", cost: 2000, source: "docs/PROTOCOL.md, Messages and history",
    help: [
        "HISTORY [<#channel|nick>] [count|time|date]",
        "Shows what was said: the last messages, a number of them, those of the last minutes, hours or days (90m, 1h, 2d),",
        "or from a date on (2026-11-30, 2026-11-30T21:40, in UTC).", "Example: HISTORY #lobby 1h",
    ]
) { world, turn in world.history(turn) }

extension World {
    fileprivate mutating func history(_ turn: Turn) {
        guard let asked = turn.parameter(0), !asked.isEmpty else { return historyHere(turn, from: 0) }
        // `HISTORY 20` where one is talking.
        if asked.first.map(ASCII.isDigit) ?? false, correspondent(asked) == nil { return historyHere(turn, from: 0) }
        guard let target = readable(asked, by: turn.me) else { return refuseHistory(turn, asked) }
        history(turn, target, amount(turn, from: 1))
    }

    /// In the channel where a person talks.
    private mutating func historyHere(_ turn: Turn, from first: Int) {
        guard let channel = sessions[turn.session].talkingIn else { return needMoreParameters(turn) }
        guard let target = readable(channel, by: turn.me) else {
            return channels[channel].name.withView { refuseHistory(turn, $0) }
        }
        history(turn, target, amount(turn, from: first))
    }

    private mutating func refuseHistory(_ turn: Turn, _ target: ByteView) {
        let why: ByteString =
            target.first == 0x23 ? "You are in no channel of this name, or banned from it" : "Nobody here has this nick"
        fail(turn, "INVALID_TARGET", why, about: [shown(target)])
    }

    /// `2026-11-30 21:40` is one moment in two words.
    private func amount(_ turn: Turn, from first: Int) -> ByteString {
        guard let word = turn.parameter(first) else { return "" }
        guard let clock = turn.parameter(first + 1), !clock.isEmpty else { return ByteString(word) }
        return "\(word)T\(clock)"
    }

    private mutating func history(_ turn: Turn, _ target: Readable, _ amount: ByteString) {
        let request = pageRequest(turn.session, turn.me, target, .asked)
        let (count, span, moment) = amount.withView { ($0.decimal(), Times.duration($0), Times.typed($0)) }
        if amount.isEmpty {
            let usual = settings.replay > 0 ? settings.replay : 50
            answerLater(turn, request, .latest(after: nil), limit: min(usual, settings.page))
        } else if let count, count > 0 {
            answerLater(turn, request, .latest(after: nil), limit: min(count, settings.page))
        } else if let span, span > 0 {
            answerLater(turn, request, .latest(after: .time(now.wall - span)), limit: settings.page)
        } else if let moment {
            var request = request
            request.purpose = .askedFrom(moment)
            answerLater(turn, request, .after(.time(moment - 1)), limit: settings.page)
        } else {
            fail(
                turn, "INVALID_PARAMS",
                "How much is a number, a time or a date: HISTORY \(target.name) 20, or 90m, 1h, 2d, or 2026-11-30",
                about: [amount.withView { shown($0) }])
        }
    }
}
