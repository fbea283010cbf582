import Bytes
import TestKit

/// Pictures of any size whose pixels are noise; no two are the same, so that each is stored.
enum Pictures {
    static func make(_ kind: String, _ count: Int) throws -> [UInt8] {
        switch kind {
        case "png": return Fixture.largePNG(count)
        case "jpeg":
            let small = try Fixture.bytes("grey.jpg")
            let noise = Fixture.largePNG(count).dropFirst(100).prefix(max(0, count - small.count))
            // In a scan FF announces a marker; this has none.
            let head = Array(small.dropLast(2))
            return head + noise.map { $0 == 0xFF ? 0xFE : $0 } + [0xFF, 0xD9]
        default: throw DoorError("pictures are png or jpeg")
        }
    }

    /// `IMG BEGIN`, lines of `chunk` bytes each, `IMG END`.
    static func lines(_ picture: [UInt8], _ type: String, _ target: String, chunk: Int) -> [UInt8] {
        var text = Array("IMG BEGIN \(target) image/\(type) \(picture.count) -\r\n".utf8)
        text.reserveCapacity(picture.count / 3 * 4 + picture.count / chunk * 40)
        for at in stride(from: 0, to: picture.count, by: chunk) {
            text += "IMG DATA * \(at) ".utf8
            text += Base64.encode(Array(picture[at..<min(picture.count, at + chunk)])).bytes + [0x0D, 0x0A]
        }
        return text + Array("IMG END *\r\n".utf8)
    }

    /// As `base64 -w` writes it; 0: one line.
    static func paste(_ picture: [UInt8], _ type: String, _ target: String, width: Int) -> [UInt8] {
        let encoded = Base64.encode(picture).bytes
        var text = Array("IMG PASTE \(target) image/\(type)\r\n".utf8)
        for at in stride(from: 0, to: encoded.count, by: width == 0 ? encoded.count : width) {
            text += encoded[at..<(width == 0 ? encoded.count : min(encoded.count, at + width))] + [0x0A]
        }
        return text + Array(".\r\n".utf8)
    }
}
