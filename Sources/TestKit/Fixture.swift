import Foundation

/// Small files that tests need as they are: pictures made by common encoders, with "secret" in whatever they tell
/// beside their pixels.
package enum Fixture {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Tests/Fixtures")

    package static let pictures = [
        "alpha.webp", "animated.gif", "animated.png", "animated.webp", "bits.png", "camera.jpg", "cmyk.jpg", "grey.jpg",
        "greyalpha.png", "lossless.webp", "lossy.webp", "palette.png", "progressive.jpg", "rgb.png", "still.gif",
    ]

    package static func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    package static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    /// `image/jpeg`
    package static func type(_ name: String) -> String {
        let ending = name.split(separator: ".").last ?? ""
        return ending == "jpg" ? "image/jpeg" : "image/\(ending)"
    }
}

extension Fixture {
    /// A PNG of this many bytes, or a few more: its pixels are noise that no decoder would take, which nobody here is.
    package static func largePNG(_ count: Int) -> [UInt8] {
        func big(_ number: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
            let named = Array(name.utf8) + body
            var sum = UInt32.max
            for byte in named {
                sum ^= UInt32(byte)
                for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
            }
            return big(body.count) + named + big(Int(~sum))
        }
        var noise = SystemRandomNumberGenerator()
        let pixels = (0..<max(8, count / 8)).flatMap { _ in big(Int(noise.next() >> 32)) + big(Int(noise.next() >> 32))
        }
        let start = [0x89] + Array("PNG\r\n\u{1A}\n".utf8)
        return start + chunk("IHDR", big(640) + big(480) + [8, 2, 0, 0, 0]) + chunk("IDAT", [0x78, 0x9C] + pixels)
            + chunk("IEND", [])
    }
}
