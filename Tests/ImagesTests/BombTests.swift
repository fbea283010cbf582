import Bytes
import Images
import TestKit
import Testing

/// Files that ask for more than they are.
@Suite struct BombTests {
    private func big(_ number: Int, _ width: Int = 4) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private func little(_ number: Int, _ width: Int) -> [UInt8] { big(number, width).reversed() }

    private func crc(_ bytes: [UInt8]) -> Int {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return Int(~sum)
    }

    private func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + body
        return big(body.count) + named + big(crc(named))
    }

    private func png(_ width: Int, _ height: Int, _ chunks: [UInt8]) -> [UInt8] {
        let header = big(width) + big(height) + [8, 2, 0, 0, 0]
        return [0x89] + Array("PNG\r\n\u{1A}\n".utf8) + chunk("IHDR", header) + chunks + chunk("IEND", [])
    }

    private func data(_ count: Int) -> [UInt8] {
        chunk("IDAT", [0x78, 0x9C] + [UInt8](repeating: 0, count: count - 2))
    }

    private func riff(_ chunks: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + little(chunks.count + 4, 4) + Array("WEBP".utf8) + chunks
    }

    private func riffChunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
    }

    @Test("A hundred megapixels in ten kilobytes")
    func hugePNG() { #expect(clean(png(10_000, 10_000, data(10_000))).isTooLarge) }

    @Test("Less data than the pixels can have been made of")
    func hollowPNG() {
        #expect(clean(png(6_000, 6_000, data(1_000))).isBroken)
        #expect(clean(png(6_000, 6_000, data(110_000))).isBroken == false)
    }

    @Test("A chunk that is longer than the file, twice there, not known, or with a wrong checksum")
    func wrongChunks() {
        let signature = [0x89] + Array("PNG\r\n\u{1A}\n".utf8)
        #expect(clean(signature + big(0x7FFF_FFFF) + Array("IHDR".utf8)).isBroken)
        #expect(clean(signature + big(0xFFFF_FFFF) + Array("IHDR".utf8)).isBroken)
        let palette = chunk("PLTE", [1, 2, 3])
        #expect(clean(png(8, 8, palette + palette + data(20))).isBroken)
        #expect(clean(png(8, 8, chunk("ABCD", []) + data(20))).isBroken)
        #expect(clean(png(8, 8, data(20) + chunk("tEXt", [1]) + data(20))).isBroken)
        #expect(clean(png(8, 8, chunk("abcd", [1]) + data(20))).isBroken == false)
        var wrong = png(8, 8, data(20))
        wrong[30] ^= 1
        #expect(clean(wrong).isBroken)
    }

    @Test("An animation of more frames than are allowed, or of fewer than it says")
    func framesOfPNG() {
        let frame = { (number: Int) in
            self.chunk(
                "fcTL", self.big(number) + self.big(8) + self.big(8) + self.big(0) + self.big(0) + [0, 1, 0, 1, 0, 0])
        }
        #expect(clean(png(8, 8, chunk("acTL", big(1) + big(0)) + frame(0) + data(20))).isBroken == false)
        #expect(clean(png(8, 8, chunk("acTL", big(2) + big(0)) + frame(0) + data(20))).isBroken)
        #expect(clean(png(8, 8, chunk("acTL", big(1) + big(0)) + frame(1) + data(20))).isBroken)
        #expect(clean(png(8, 8, chunk("acTL", big(1_000_000) + big(0)) + frame(0) + data(20))).isTooLarge)
    }

    @Test("A GIF of a million frames, and one whose frames are huge")
    func framesOfGIF() {
        let head = Array("GIF89a".utf8) + little(2, 2) + little(2, 2) + [0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 2, 0x44, 0x01, 0]
        var bytes = head
        for _ in 0..<5_000 { bytes += frame }
        #expect((try? clean(bytes + [0x3B]).get()) != nil)
        for _ in 5_000..<1_000_000 { bytes += frame }
        #expect(clean(bytes + [0x3B]).isTooLarge)
        let large: [UInt8] = [0x2C, 0, 0, 0, 0, 0x70, 0x17, 0x70, 0x17, 0, 2, 2, 0x44, 0x01, 0]
        var slow = head
        for _ in 0..<200 { slow += large }
        #expect(clean(slow + [0x3B]).isTooLarge)
    }

    @Test("A frame that holds a file, and a file in a file in a file")
    func nestedWebP() throws {
        let picture = try Fixture.bytes("lossless.webp")[12...]
        let header = riffChunk("VP8X", [2, 0, 0, 0] + little(47, 3) + little(31, 3))
        let place = little(0, 3) + little(0, 3) + little(47, 3) + little(31, 3) + little(50, 3) + [0]
        let animation = riffChunk("ANIM", [0, 0, 0, 0, 0, 0])
        let frame = riffChunk("ANMF", place + picture)
        #expect((try? clean(riff(header + animation + frame)).get()) != nil)
        #expect(clean(riff(header + animation + riffChunk("ANMF", place + frame))).isBroken)
        var nested = frame
        for _ in 0..<1000 { nested = riffChunk("ANMF", place + nested) }
        #expect(clean(riff(header + animation + nested)).isBroken)
        #expect(clean(riff(header + animation)).isBroken)
        #expect(clean(riff(header + frame)).isBroken)
        let outside = little(4, 3) + Array(place.dropFirst(3))
        #expect(clean(riff(header + animation + riffChunk("ANMF", outside + picture))).isBroken)
    }

    @Test("A canvas of more pixels than are allowed")
    func hugeWebP() {
        let header = riffChunk("VP8X", [0, 0, 0, 0] + little(0xFF_FFFF, 3) + little(0xFF_FFFF, 3))
        #expect(clean(riff(header + riffChunk("VP8L", [0x2F, 0, 0, 0, 0, 0]))).isTooLarge)
    }

    @Test("JPEGs: huge, with two frames, with a scan for every bit there never was")
    func jpeg() throws {
        let bytes = try Fixture.bytes("grey.jpg")
        let at = try #require(bytes.firstRange(of: [0xFF, 0xC0])).lowerBound
        var huge = bytes
        for i in 5..<9 { huge[at + i] = 0xFF }
        #expect(clean(huge).isTooLarge)
        let frame = Array(bytes[at..<at + 2 + Int(bytes[at + 3])])
        #expect(clean(Array(bytes[..<at]) + frame + Array(bytes[at...])).isBroken)
        let scan = try #require(bytes.firstRange(of: [0xFF, 0xDA])).lowerBound
        let once = Array(bytes[scan..<bytes.count - 2])
        var many = Array(bytes[..<scan])
        for _ in 0..<501 { many += once }
        #expect(clean(many + [0xFF, 0xD9]).isTooLarge)
    }
}
