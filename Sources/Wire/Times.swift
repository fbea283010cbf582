package import Bytes

/// Times as text, in UTC; milliseconds since 1970. Correct for 1970 to 9999, times outside are taken for the nearest
/// inside.
package enum Times {
    private static let latest: Int64 = 253_402_300_799_999
    private static let longest: Int64 = 100 * 366 * 86_400_000

    /// `2026-11-30T21:40:05.123Z` (IRCv3 server-time).
    package static func serverTime(_ ms: Int64) -> ByteString {
        let bytes = [UInt8](unsafeUninitializedCapacity: 24) { buffer, count in
            fill(UnsafeMutableRawBufferPointer(buffer), ms)
            count = 24
        }
        return ByteString(bytes)
    }

    package static func write(_ ms: Int64, into buffer: inout ByteBuffer) {
        buffer.appendUnsafe(24) {
            fill($0, ms)
            return 24
        }
    }

    /// `2026-11-30 21:40`, for people.
    package static func short(_ ms: Int64) -> ByteString {
        let full = serverTime(ms)
        return "\(full[0..<10]) \(full[11..<16])"
    }

    /// `21:40`.
    package static func clock(_ ms: Int64) -> ByteString { serverTime(ms)[11..<16] }

    /// `Mon, 30 Nov 2026 21:40:05 +0000`, as in mail (RFC 5322), of seconds since 1970: for 391 and other dates for
    /// people.
    package static func rfc(_ seconds: Int64) -> ByteString {
        let bounded = min(max(seconds, 0), latest / 1000)
        let day = bounded / 86400
        let (year, month, date) = civil(day)
        let clock = serverTime(bounded * 1000)[11..<19]
        let padded: ByteString = date < 10 ? "0\(date)" : "\(date)"
        return "\(weekdays[Int((day + 4) % 7)]), \(padded) \(months[Int(month) - 1]) \(year) \(clock) +0000"
    }

    /// What `serverTime` writes; the fraction may have one to nine digits, or be left out. nil: not this form, or no
    /// such time.
    package static func parse(_ text: ByteView) -> Int64? {
        guard text.count >= 20, text.last == 0x5A, text[4] == 0x2D, text[7] == 0x2D, text[10] == 0x54,
            text[13] == 0x3A, text[16] == 0x3A,
            let year = text[0..<4].decimal(), let month = text[5..<7].decimal(), let date = text[8..<10].decimal(),
            let hour = text[11..<13].decimal(), let minute = text[14..<16].decimal(),
            let second = text[17..<19].decimal(), let ms = fraction(text[19..<(text.count - 1)]),
            year >= 1970, (1...12).contains(month), hour < 24, minute < 60, second <= 60
        else { return nil }
        let day = days(Int64(year), Int64(month), Int64(date))
        guard civil(day) == (Int64(year), Int64(month), Int64(date)) else { return nil }
        return (day * 86400 + Int64(hour * 3600 + minute * 60 + second)) * 1000 + ms
    }

    /// A moment as people type it, in UTC: `2026-11-30`, `2026-11-30T21:40`, or what `parse` takes.
    package static func typed(_ text: ByteView) -> Int64? {
        let rest: StaticString
        switch text.count {
        case 10: rest = "T00:00:00Z"
        case 16: rest = ":00Z"
        default: rest = ""
        }
        let whole: ByteString = "\(text)\(rest)"
        return whole.withView { parse($0) }
    }

    /// `30s`, `90m`, `1h`, `2d`, `1w`, also one after the other (`1h30m`), in milliseconds; nil: not one, or over a
    /// century.
    package static func duration(_ text: ByteView) -> Int64? {
        var total: Int64 = 0
        var start = 0
        for i in 0..<text.count where !ASCII.isDigit(text[i]) {
            guard let unit = unit(text[i]), let number = text[start..<i].decimal(limit: 1_000_000_000_000) else {
                return nil
            }
            let (ms, over) = Int64(number).multipliedReportingOverflow(by: unit)
            guard !over, ms <= longest - total else { return nil }
            total += ms
            start = i + 1
        }
        return start > 0 && start == text.count ? total : nil
    }

    private static let weekdays: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func unit(_ letter: UInt8) -> Int64? {
        switch ASCII.lower(letter) {
        case 0x73: 1000
        case 0x6D: 60_000
        case 0x68: 3_600_000
        case 0x64: 86_400_000
        case 0x77: 7 * 86_400_000
        default: nil
        }
    }

    /// `.123` in milliseconds; 0 for nothing.
    private static func fraction(_ text: ByteView) -> Int64? {
        if text.isEmpty { return 0 }
        guard text[0] == 0x2E, (2...10).contains(text.count) else { return nil }
        var ms: Int64 = 0
        for i in 1..<max(text.count, 4) {
            let digit: UInt8 = i < text.count ? text[i] : 0x30
            guard ASCII.isDigit(digit) else { return nil }
            if i <= 3 { ms = ms * 10 + Int64(digit - 0x30) }
        }
        return ms
    }

    private static func fill(_ out: UnsafeMutableRawBufferPointer, _ time: Int64) {
        let ms = min(max(time, 0), latest)
        let seconds = ms / 1000
        let (year, month, date) = civil(seconds / 86400)
        digits(out, 0, 4, year)
        out[4] = 0x2D
        digits(out, 5, 2, month)
        out[7] = 0x2D
        digits(out, 8, 2, date)
        out[10] = 0x54
        digits(out, 11, 2, seconds / 3600 % 24)
        out[13] = 0x3A
        digits(out, 14, 2, seconds / 60 % 60)
        out[16] = 0x3A
        digits(out, 17, 2, seconds % 60)
        out[19] = 0x2E
        digits(out, 20, 3, ms % 1000)
        out[23] = 0x5A
    }

    private static func digits(_ out: UnsafeMutableRawBufferPointer, _ at: Int, _ width: Int, _ number: Int64) {
        var rest = number
        for i in stride(from: at + width - 1, through: at, by: -1) {
            out[i] = 0x30 + UInt8(rest % 10)
            rest /= 10
        }
    }

    /// The Gregorian date of a day since 1970. Years are counted from March, so that the leap day is the last of one.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, date: Int64) {
        let shifted = day + 719_468  // days since 1 March of year 0
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func days(_ year: Int64, _ month: Int64, _ date: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let yearOfEra = shifted % 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + date - 1
        return shifted / 400 * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
