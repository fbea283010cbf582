import Bytes
import Images
import TestKit
import Testing

/// What `cleanImage` says of bytes.
func clean(_ bytes: [UInt8], pixels: Int = 40_000_000) -> Result<CleanImage, ImageFault> {
    bytes.withUnsafeBytes { bytes in
        do throws(ImageFault) { return .success(try cleanImage(ByteView(bytes), ImageLimits(pixels: pixels))) } catch {
            return .failure(error)
        }
    }
}

extension Result where Success == CleanImage, Failure == ImageFault {
    var isBroken: Bool { if case .failure(.broken) = self { true } else { false } }
    var isTooLarge: Bool { if case .failure(.tooLarge) = self { true } else { false } }
}

@Suite struct CleanTests {
    static let sizes: [String: (Int, Int)] = [
        "alpha.webp": (32, 32), "animated.gif": (24, 24), "animated.png": (24, 24), "animated.webp": (24, 24),
        "bits.png": (20, 20), "camera.jpg": (48, 32), "cmyk.jpg": (40, 40), "grey.jpg": (40, 40),
        "greyalpha.png": (20, 20), "lossless.webp": (48, 32), "lossy.webp": (48, 32), "palette.png": (20, 20),
        "progressive.jpg": (48, 32), "rgb.png": (48, 32), "still.gif": (30, 20),
    ]

    @Test(
        "Pictures of common encoders are taken, without what they tell beside their pixels", arguments: Fixture.pictures
    )
    func cleans(name: String) throws {
        let bytes = try Fixture.bytes(name)
        let image = try clean(bytes).get()
        #expect(image.kind == bytes.withUnsafeBytes { ImageKind(ByteView($0)) })
        #expect((image.width, image.height) == Self.sizes[name]!)
        #expect(image.bytes.count <= bytes.count)
        #expect(!String(decoding: image.bytes, as: UTF8.self).lowercased().contains("secret"))
        #expect(try clean(image.bytes).get() == image, "what is clean stays as it is")
    }

    @Test("The compressed pixels are the same bytes", arguments: Fixture.pictures)
    func pixelsStay(name: String) throws {
        let bytes = try Fixture.bytes(name)
        let before = try Pixels(bytes)
        #expect(!before.parts.isEmpty)
        #expect(before == (try Pixels(try clean(bytes).get().bytes)))
    }

    @Test("Of the camera's notes the orientation stays alone", arguments: ["camera.jpg", "rgb.png", "lossy.webp"])
    func orientation(name: String) throws {
        let before = try Fixture.bytes(name)
        let after = try clean(before).get().bytes
        let gps: [UInt8] = [0x25, 0x88]
        let orientation: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6]
        #expect(before.firstRange(of: gps) != nil || before.firstRange(of: gps.reversed()) != nil)
        #expect(after.firstRange(of: gps) == nil && after.firstRange(of: gps.reversed()) == nil)
        #expect(after.firstRange(of: orientation) != nil)
        #expect(after.firstRange(of: Array("SecretCam".utf8)) == nil)
    }

    @Test("A picture is held as before, whichever of the eight ways that is", arguments: 0...9)
    func orientations(value: Int) throws {
        var bytes = try Fixture.bytes("camera.jpg")
        let little = bytes.firstRange(of: [0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0])
        let big = bytes.firstRange(of: [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6])
        let place = try #require(little.map { $0.lowerBound + 8 } ?? big.map { $0.lowerBound + 9 })
        bytes[place] = UInt8(value)
        let after = try clean(bytes).get().bytes
        let kept = after.firstRange(of: [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0])
        // 1 is upright, as without a word; the others are no way to hold anything.
        #expect(kept.map { Int(after[$0.upperBound]) } == (2...8 ~= value ? value : nil))
        #expect((after.firstRange(of: Array("Exif".utf8)) != nil) == (2...8 ~= value))
        #expect(try Pixels(bytes) == Pixels(after))
    }

    @Test("Inks stay inks: Adobe's word on the colours of four components stays")
    func inks() throws {
        let adobe = Array("Adobe".utf8)
        let (before, after) = (try Fixture.bytes("cmyk.jpg"), try clean(Fixture.bytes("cmyk.jpg")).get().bytes)
        let (old, new) = (try #require(before.firstRange(of: adobe)), try #require(after.firstRange(of: adobe)))
        #expect(before[old.lowerBound...].prefix(12) == after[new.lowerBound...].prefix(12))
    }

    @Test("What hides in comments, notes and chunks that nobody shows is not in the clean file")
    func hidden() throws {
        let script: [UInt8] = Array("<script>alert(1)</script>PK\u{3}\u{4}".utf8)
        let jpeg = try Fixture.bytes("grey.jpg")
        var notes: [UInt8] = Array(jpeg[..<2])
        for marker in [0xFE, 0xE1, 0xED, 0xE4] as [UInt8] {
            notes += [0xFF, marker, 0, UInt8(script.count + 2)] as [UInt8]
            notes += script
        }
        notes += jpeg[2...]
        #expect(try clean(notes).get() == clean(jpeg).get())

        let gif = try Fixture.bytes("still.gif")
        var commented: [UInt8] = gif.dropLast()
        commented += [0x21, 0xFE, UInt8(script.count)] as [UInt8]
        commented += script + [0]
        commented += [0x21, 0xFF, 11] as [UInt8]
        commented += Array("XMP DataXMP".utf8) + [UInt8(script.count)]
        commented += script + [0, 0x3B]
        #expect(try clean(commented).get() == clean(gif).get())

        var webp = try Fixture.bytes("lossless.webp")
        webp += Array("XYZW".utf8) + [UInt8(script.count), 0, 0, 0]
        webp += script + (script.count % 2 == 1 ? [0] : [])
        for i in 0..<4 { webp[4 + i] = UInt8(truncatingIfNeeded: (webp.count - 8) >> (8 * i)) }
        if case .success(let image) = clean(webp) { #expect(image.bytes.firstRange(of: script) == nil) }
        // A script that begins as a GIF does.
        var run: [UInt8] = Array("GIF89a=1;alert(1)//".utf8)
        run += gif[6...]
        #expect((try? clean(run).get()) == nil)
    }

    @Test("The colour profile stays", arguments: ["camera.jpg", "lossy.webp"])
    func profile(name: String) throws {
        let marks = [Array("ICC_PROFILE".utf8), Array("ICCP".utf8)]
        let after = try clean(try Fixture.bytes(name)).get().bytes
        #expect(marks.contains { after.firstRange(of: $0) != nil })
        #expect(after.firstRange(of: Array("acsp".utf8)) != nil)
    }

    @Test("Every beginning of a picture is refused", arguments: Fixture.pictures)
    func truncated(name: String) throws {
        let bytes = try Fixture.bytes(name)
        for length in 0..<bytes.count {
            guard case .success(let image) = clean(Array(bytes[..<length])) else { continue }
            // A last byte that only fills up is no loss.
            #expect(image.bytes == (try clean(bytes).get().bytes), "\(length) of \(bytes.count) bytes")
        }
    }

    @Test("Whatever byte is another, nothing traps, and what is taken is clean", arguments: Fixture.pictures)
    func changed(name: String) throws {
        let bytes = try Fixture.bytes(name)
        for at in bytes.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF, bytes[at] ^ 0x20] as [UInt8] {
                var changed = bytes
                changed[at] = value
                guard case .success(let image) = clean(changed) else { continue }
                #expect(try clean(image.bytes).get() == image, "byte \(at) is \(value)")
            }
        }
    }

    @Test(
        "What stands behind the end makes a file two things at once",
        arguments: ["camera.jpg", "rgb.png", "still.gif", "lossy.webp"])
    func polyglot(name: String) throws {
        let bytes = try Fixture.bytes(name)
        for tail in ["PK\u{3}\u{4}", "<script>", "MZ"] { #expect(clean(bytes + Array(tail.utf8)).isBroken) }
        #expect(try clean(bytes + [UInt8](repeating: 0, count: 100)).get() == clean(bytes).get())
    }

    @Test("What phones put behind a JPEG is left out")
    func trailers() throws {
        let bytes = try Fixture.bytes("grey.jpg")
        let film = [0, 0, 0, 24] + Array("ftypmp42".utf8) + [UInt8](repeating: 7, count: 30)
        for tail in [bytes, film, Array("anything SEFT".utf8)] {
            #expect(try clean(bytes + tail).get() == clean(bytes).get())
        }
    }

    @Test(
        "Other things are none",
        arguments: ["", "x", "<svg xmlns='http://www.w3.org/2000/svg'/>", "%PDF-1.7", "BM", "GIF88a", "RIFF1234WAVE"])
    func unknown(text: String) { #expect(clean(Array(text.utf8)) == .failure(.unknown)) }
}
