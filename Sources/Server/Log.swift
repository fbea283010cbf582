package import Bytes
import Glibc
import Synchronization
import Wire

/// The log: one line an event, on standard error.
///
/// An event is a literal and its fields are typed, so foreign bytes cannot forge a line and a secret has no way in by
/// interpolation. Each line is one write; lines that nobody takes are lost, never waited for in memory.
/// Any thread may log; what is off costs one load, its fields are not made.
package final class Log: Sendable {
    package enum Level: String, Sendable, CaseIterable, Comparable {
        case error, warn, info, debug

        /// Falling importance.
        fileprivate var rank: UInt8 {
            switch self {
            case .error: 0
            case .warn: 1
            case .info: 2
            case .debug: 3
            }
        }

        /// syslog(3).
        fileprivate var priority: UInt8 {
            switch self {
            case .error: 3
            case .warn: 4
            case .info: 6
            case .debug: 7
            }
        }

        package static func < (a: Level, b: Level) -> Bool { a.rank < b.rank }
    }

    package enum Format: String, Sendable, CaseIterable { case text, json }

    package enum Value: Sendable {
        case text(String)
        case bytes(ByteString)
        case number(Int64)
        case flag(Bool)

        package static func number(_ number: some BinaryInteger) -> Value { .number(Int64(clamping: number)) }
    }

    package typealias Fields = KeyValuePairs<StaticString, Value>

    private static let jsonBit: UInt8 = 0x80
    /// The level's rank, and `jsonBit`: one load decides.
    private let settings: Atomic<UInt8>
    private let hasJournal: Bool
    private let now: @Sendable () -> Int64
    private let write: @Sendable ([UInt8]) -> Void

    /// `hasJournal`: lines start with `<N>` in the place of the time (sd-daemon(3)). `now` is milliseconds since 1970.
    package init(
        _ settings: Configuration.LogSettings, hasJournal: Bool = false,
        now: @escaping @Sendable () -> Int64 = Log.wallClock,
        write: @escaping @Sendable ([UInt8]) -> Void = Log.standardError
    ) {
        self.settings = Atomic(Self.pack(settings))
        self.hasJournal = hasJournal
        self.now = now
        self.write = write
    }

    /// After a reload.
    package func apply(_ settings: Configuration.LogSettings) {
        self.settings.store(Self.pack(settings), ordering: .relaxed)
    }

    package func isOn(_ level: Level) -> Bool {
        level.rank <= settings.load(ordering: .relaxed) & ~Self.jsonBit
    }

    package func error(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) { log(.error, event, fields) }

    package func warn(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) { log(.warn, event, fields) }

    package func info(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) { log(.info, event, fields) }

    package func debug(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) { log(.debug, event, fields) }

    private func log(_ level: Level, _ event: StaticString, _ fields: () -> Fields) {
        guard isOn(level) else { return }
        var line = LogLine()
        if hasJournal { line.append("<\(level.priority)>") }
        if settings.load(ordering: .relaxed) & Self.jsonBit != 0 {
            line.appendJSON(Times.serverTime(now()), level, event, fields())
        } else {
            if !hasJournal { line.append("\(Times.serverTime(now())) \(level.rawValue) ") }
            line.appendText(event, fields())
        }
        line.append("\n")
        write(line.bytes)
    }

    private static func pack(_ settings: Configuration.LogSettings) -> UInt8 {
        settings.level.rank | (settings.format == .json ? jsonBit : 0)
    }

    /// Milliseconds since 1970.
    package static let wallClock: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    package static let standardError: @Sendable ([UInt8]) -> Void = { try? Files.writeAll(STDERR_FILENO, $0) }
}

extension Log.Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .text(value) }

    package init(integerLiteral value: Int64) { self = .number(value) }

    package init(booleanLiteral value: Bool) { self = .flag(value) }
}
