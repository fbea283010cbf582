import Bytes
import Foundation
import Server
import Synchronization
import TestKit
import Testing

@Suite struct LogTests {
    /// What was logged.
    final class Sink: Sendable {
        private let written = Mutex<[String]>([])

        var lines: [String] { written.withLock { $0 } }

        func log(
            _ level: Log.Level = .debug, _ format: Log.Format = .text, hasJournal: Bool = false
        ) -> Log {
            var settings = Configuration.LogSettings()
            settings.level = level
            settings.format = format
            return Log(settings, hasJournal: hasJournal, now: { 1_795_988_405_123 }) { bytes in
                self.written.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
            }
        }
    }

    @Test func writesTimeLevelEventAndFields() {
        let sink = Sink()
        sink.log().info("connection closed", ["nick": "ana", "bytes": 1234, "tls": true, "reason": "Ping timeout"])
        #expect(
            sink.lines == [
                "2026-11-29T21:40:05.123Z info connection closed nick=ana bytes=1234 tls=true reason=\"Ping timeout\"\n"
            ])
    }

    @Test func writesJSON() throws {
        let sink = Sink()
        sink.log(.info, .json).warn("bad line", ["text": .bytes(ByteString([0x22, 0x0A, 0xFF, 0x5C])), "count": -1])
        let line = try #require(sink.lines.first)
        #expect(line.filter(\.isNewline).count == 1)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary
        #expect(
            object == [
                "time": "2026-11-29T21:40:05.123Z", "level": "warn", "event": "bad line", "text": "\"\n\u{FFFD}\\",
                "count": -1,
            ] as NSDictionary)
    }

    @Test func theJournalGetsPrioritiesInThePlaceOfTimes() {
        let sink = Sink()
        let log = sink.log(hasJournal: true)
        log.error("a")
        log.warn("b")
        log.info("c")
        log.debug("d")
        #expect(sink.lines == ["<3>a\n", "<4>b\n", "<6>c\n", "<7>d\n"])
    }

    @Test(arguments: [
        "line\nforged", "\r", "\u{1B}[2J", "\u{85}", "\u{2028}", "\u{202E}txet", "\u{E0041}", "a=b", "a b", "\"", "\\",
        "", "\u{7F}", "\u{200B}",
    ])
    func foreignTextIsQuoted(_ text: String) throws {
        let sink = Sink()
        sink.log().info("x", ["text": .text(text)])
        let line = try #require(sink.lines.first)
        #expect(line.hasSuffix("\"\n"))
        let inside = line.dropLast().unicodeScalars
        #expect(inside.allSatisfy { ![.control, .format, .lineSeparator].contains($0.properties.generalCategory) })
        let quoted = try #require(line.range(of: "text=")).upperBound
        let back = try JSONSerialization.jsonObject(with: Data(line[quoted...].utf8), options: .fragmentsAllowed)
        #expect(back as? String == text)
    }

    @Test func textThatNeedsNoQuotesHasNone() {
        let sink = Sink()
        sink.log(hasJournal: true).info("x", ["a": "[::1]:6667", "b": "ana!u@host.example", "c": "größe"])
        #expect(sink.lines == ["<6>x a=[::1]:6667 b=ana!u@host.example c=\"größe\"\n"])
    }

    @Test(arguments: [Log.Format.text, .json]) func longValuesAreCut(_ format: Log.Format) throws {
        let sink = Sink()
        sink.log(.info, format).info("x", ["text": .text(String(repeating: "é\n", count: 5000))])
        let line = try #require(sink.lines.first)
        #expect(line.utf8.count < 1200)
        #expect(line.contains("...\""))
    }

    @Test func whatIsOffIsNotMade() {
        let sink = Sink()
        let log = sink.log(.warn)
        log.info(
            "x",
            [
                "field": {
                    Issue.record("made for nothing"); return Log.Value.flag(true)
                }()
            ])
        #expect(sink.lines.isEmpty)
        #expect(log.isOn(.error) && log.isOn(.warn) && !log.isOn(.info) && !log.isOn(.debug))
    }

    @Test func aReloadChangesLevelAndFormat() {
        let sink = Sink()
        let log = sink.log(.error)
        log.info("before")
        var settings = Configuration.LogSettings()
        settings.level = .debug
        settings.format = .json
        log.apply(settings)
        log.debug("after")
        #expect(sink.lines.count == 1)
        #expect(sink.lines.first?.contains("\"event\":\"after\"") == true)
    }

    @Test func linesOfManyThreadsStayWhole() async throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        let log = Log(
            Configuration.LogSettings(), hasJournal: true, write: { bytes in _ = write(descriptor, bytes, bytes.count) }
        )
        let reader = Task.detached { try pipe.fileHandleForReading.readToEnd() }
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for _ in 0..<200 { log.info("event", ["thread": .number(thread), "text": "some words"]) }
                }
            }
        }
        try pipe.fileHandleForWriting.close()
        let lines = String(decoding: try await reader.value ?? Data(), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 1600)
        #expect(lines.allSatisfy { $0.hasPrefix("<6>event thread=") && $0.hasSuffix(" text=\"some words\"") })
    }
}
