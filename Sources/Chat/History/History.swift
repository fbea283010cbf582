import Bytes
import Wire

let historyCommand = Command(
    "HISTORY", cost: 2000, source: "docs/PROTOCOL.md, Messages and history",
    help: [
        "HISTORY <#channel|nick> [count|time]",
        "Shows what was said: the last messages, a number of them, or those of the last minutes, hours or days.",
        "Example: HISTORY #lobby 1h",
    ]
) { world, turn in world.history(turn) }

extension World {
    fileprivate mutating func history(_ turn: Turn) {
        guard let asked = turn.parameter(0), !asked.isEmpty else { return historyHere(turn, .empty) }
        // `HISTORY 20` where one is talking.
        if asked.first.map(ASCII.isDigit) ?? false, user(named: asked) == nil { return historyHere(turn, asked) }
        guard let target = readable(asked, by: turn.me) else {
            return fail(
                turn, "INVALID_TARGET", "You are in no channel of this name, and nobody here has this nick",
                about: [shown(asked)])
        }
        history(turn, target, turn.parameter(1) ?? .empty)
    }

    /// In the channel where a person talks.
    private mutating func historyHere(_ turn: Turn, _ amount: ByteView) {
        guard let channel = sessions[turn.session].talkingIn else { return needMoreParameters(turn) }
        history(turn, readable(channel, by: turn.me), amount)
    }

    private mutating func history(_ turn: Turn, _ target: Readable, _ amount: ByteView) {
        let request = pageRequest(turn.session, turn.me, target, .asked)
        if amount.isEmpty {
            let usual = settings.replay > 0 ? settings.replay : 50
            answerLater(turn, request, .latest(after: nil), limit: min(usual, settings.page))
        } else if let count = amount.decimal(), count > 0 {
            answerLater(turn, request, .latest(after: nil), limit: min(count, settings.page))
        } else if let span = Times.duration(amount), span > 0 {
            answerLater(turn, request, .latest(after: .time(now.wall - span)), limit: settings.page)
        } else {
            fail(
                turn, "INVALID_PARAMS", "How much is a number or a time: HISTORY \(target.name) 20, or 90m, 1h, 2d",
                about: [shown(amount)])
        }
    }
}
