import Bytes
import Wire

/// `+f lines:seconds`: how much each member without a rank may say.
struct ChannelPace {
    let lines: Int
    let seconds: Int

    static let mostLines = 1000
    static let mostSeconds = 3600

    init?(_ text: ByteView) {
        guard let colon = text.firstIndex(of: 0x3A),
            let lines = text.prefix(colon).decimal(limit: Self.mostLines), lines > 0,
            let seconds = text.dropFirst(colon + 1).decimal(limit: Self.mostSeconds), seconds > 0
        else { return nil }
        self.lines = lines
        self.seconds = seconds
    }

    var text: ByteString { "\(lines):\(seconds)" }
}

/// What somebody said since a steady time.
struct Pace: Sendable {
    var since: Int64
    var lines: Int
}

extension World {
    /// Counts a message of so many lines against `+f`; the reason when it is too long. Who has a rank is not counted.
    mutating func paceExceeded(_ user: UserID, in channel: ChannelID, lines: Int) -> ByteString? {
        guard let allowed = channels[channel].state.flood.withView({ ChannelPace($0) }),
            ranks(user, in: channel).isEmpty
        else { return nil }
        let period = Int64(allowed.seconds) * 1000
        let now = now.steady
        var pace = channels[channel].paces[user] ?? Pace(since: now, lines: 0)
        if now - pace.since >= period { pace = Pace(since: now, lines: 0) }
        if pace.lines + lines > allowed.lines {
            return "Cannot send to channel (+f): at most \(allowed.lines) lines in \(allowed.seconds) seconds"
        }
        pace.lines += lines
        channels[channel].paces[user] = pace
        // Speakers from outside (-n) never leave; what they said is forgotten when it counts no more.
        if channels[channel].paces.count > channels[channel].members.count + 100 {
            channels[channel].paces = channels[channel].paces.filter { now - $0.value.since < period }
        }
        return nil
    }
}
