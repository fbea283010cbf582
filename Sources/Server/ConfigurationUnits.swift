/// Sizes and times as people write them.
enum Quantity {
    private static let sizes: [(name: String, bytes: Int)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]
    private static let times: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// `64KiB`, `1MiB`, `4096B`, `4096`; nil when it is no such thing or does not fit.
    static func size(_ text: String) -> Int? {
        guard let (number, unit) = split(text) else { return nil }
        guard let scale = unit.isEmpty ? 1 : sizes.first(where: { $0.name == unit })?.bytes else { return nil }
        let (bytes, over) = Int(number).multipliedReportingOverflow(by: scale)
        return over ? nil : bytes
    }

    /// In the largest unit that divides it.
    static func text(size: Int) -> String {
        let unit = sizes.first { size != 0 && size % $0.bytes == 0 } ?? ("B", 1)
        return "\(size / unit.bytes)\(unit.name)"
    }

    /// `90d`, `12h`, `5m`, `10s`, `500ms`; nil when it is no such thing or does not fit.
    static func duration(_ text: String) -> Duration? {
        guard let (number, unit) = split(text), let scale = times.first(where: { $0.name == unit }) else { return nil }
        let (milliseconds, over) = number.multipliedReportingOverflow(by: scale.milliseconds)
        return over ? nil : .milliseconds(milliseconds)
    }

    /// In the largest unit that divides it.
    static func text(duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        let unit = times.first { milliseconds != 0 && milliseconds % $0.milliseconds == 0 } ?? ("s", 1000)
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }

    private static func split(_ text: String) -> (number: Int64, unit: String)? {
        let digits = text.utf8.prefix { $0 >= 0x30 && $0 <= 0x39 }
        guard !digits.isEmpty, let number = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
        return (number, String(decoding: text.utf8.dropFirst(digits.count), as: UTF8.self))
    }
}
