import Bytes
import Glibc
import Testing
import Wire

struct TimesTests {
    static let sample: Int64 = 1_796_074_805_123  // 2026-11-30T21:40:05.123Z

    @Test func writesEveryForm() {
        #expect(Times.serverTime(Self.sample) == "2026-11-30T21:40:05.123Z")
        #expect(Times.short(Self.sample) == "2026-11-30 21:40")
        #expect(Times.clock(Self.sample) == "21:40")
        #expect(Times.rfc(Self.sample / 1000) == "Mon, 30 Nov 2026 21:40:05 +0000")
        #expect(Times.rfc(0) == "Thu, 01 Jan 1970 00:00:00 +0000")
        var buffer = ByteBuffer()
        buffer.append("time=" as StaticString)
        Times.write(Self.sample, into: &buffer)
        #expect(buffer.view == "time=2026-11-30T21:40:05.123Z")
    }

    @Test func boundsTimes() {
        #expect(Times.serverTime(.min) == "1970-01-01T00:00:00.000Z")
        #expect(Times.serverTime(.max) == "9999-12-31T23:59:59.999Z")
        #expect(Times.rfc(.max) == "Fri, 31 Dec 9999 23:59:59 +0000" && Times.rfc(.min) == Times.rfc(0))
    }

    /// The C library's calendar is the reference, over all 8,030 years and round the leap days.
    @Test func agreesWithTheCLibrary() {
        for day in stride(from: Int64(0), through: 2_932_896, by: 397) {
            let ms = (day * 86400 + day % 86400) * 1000 + day % 1000
            var seconds = time_t(ms / 1000)
            var parts = tm()
            gmtime_r(&seconds, &parts)
            let text = Times.serverTime(ms)
            let read = text.withView { text in
                [text[0..<4], text[5..<7], text[8..<10], text[11..<13], text[14..<16], text[17..<19]].map {
                    $0.decimal()
                }
            }
            let fields = [
                parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
            ]
            #expect(read == fields.map(Int.init) && text.withView { Times.parse($0) } == ms)
        }
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00.000Z", 0), ("2000-02-29T00:00:00Z", 951_782_400_000),
        ("2026-11-30T21:40:05Z", 1_796_074_805_000),
        ("2026-11-30T21:40:05.1Z", 1_796_074_805_100), ("2026-11-30T21:40:05.123456789Z", 1_796_074_805_123),
        ("2016-12-31T23:59:60Z", 1_483_228_800_000),
    ])
    func reads(text: String, ms: Int64) { #expect(with(text) { Times.parse($0) } == ms) }

    @Test(arguments: [
        "", "2026", "2026-11-30T21:40:05.123", "2026-11-30 21:40:05Z", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z", "2026-00-10T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "1969-12-31T23:59:59Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.xZ",
        "2026-01-01T00:00:00.1234567890Z", "+026-01-01T00:00:00Z", "2026-01-01T00:00:00+1Z",
        "2026-01-01T00:00:00.123Zx",
    ])
    func refuses(text: String) { #expect(with(text) { Times.parse($0) } == nil) }

    @Test(arguments: [
        ("1h", 3_600_000), ("90m", 5_400_000), ("2d", 172_800_000), ("30s", 30_000), ("1w", 604_800_000),
        ("1h30m", 5_400_000),
        ("0s", 0), ("1H", 3_600_000),
    ])
    func readsDurations(text: String, ms: Int64) { #expect(with(text) { Times.duration($0) } == ms) }

    @Test(arguments: [
        "", "h", "1", "1x", "-1h", "1h ", "1hh", "1h30", "99999999999w", "9999999999999999999999s", "101w99999d9999w",
    ])
    func refusesDurations(text: String) { #expect(with(text) { Times.duration($0) } == nil) }
}
