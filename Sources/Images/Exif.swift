import Bytes

/// The one thing of a camera's notes that stays: how the picture is held (Exif 2.3, tag 0x0112).
enum Exif {
    private static let orientationTag = 0x0112
    private static let short = 3

    /// 2 to 8; nil where the picture is upright, or where the notes do not say.
    static func orientation(tiff: ByteView) -> UInt8? {
        guard tiff.count >= 14 else { return nil }
        let isLittle = tiff.hasPrefix("II")
        guard isLittle || tiff.hasPrefix("MM") else { return nil }
        func number(_ start: Int, _ width: Int) -> Int {
            isLittle ? tiff.little(start, width) : tiff.big(start, width)
        }
        let directory = number(4, 4)
        guard number(2, 2) == 42, directory >= 8, directory <= tiff.count - 2 else { return nil }
        let entries = min(number(directory, 2), (tiff.count - directory - 2) / 12)
        for entry in 0..<entries {
            let start = directory + 2 + 12 * entry
            guard number(start, 2) == orientationTag else { continue }
            guard number(start + 2, 2) == short, number(start + 4, 4) == 1 else { return nil }
            let value = number(start + 8, 2)
            return 2...8 ~= value ? UInt8(value) : nil
        }
        return nil
    }

    /// TIFF with the orientation and nothing else.
    static func tiff(orientation: UInt8) -> [UInt8] {
        var bytes = Array("MM".utf8)
        bytes.append(big: 42, 2)
        bytes.append(big: 8, 4)
        bytes.append(big: 1, 2)
        bytes.append(big: orientationTag, 2)
        bytes.append(big: short, 2)
        bytes.append(big: 1, 4)
        bytes.append(big: Int(orientation) << 16, 4)
        bytes.append(big: 0, 4)
        return bytes
    }
}
