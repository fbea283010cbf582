import Bytes
import Foundation
import Testing

@Suite struct ByteViewTests {
    private func with<R>(_ text: ByteString, _ body: (ByteView) -> R) -> R { text.withView(body) }

    @Test func partsAndSearch() {
        with("a,,bc,") { view in
            #expect(view.parts(0x2C).map(\.description) == ["a", "bc"])
            #expect(view.firstIndex(of: 0x2C) == 1)
            #expect(view.firstIndex(of: 0x2C, from: 3) == 5)
            #expect(view.firstIndex(of: 0x2C, from: 6) == nil)
            #expect(view.firstIndex(of: 0x7A) == nil)
            #expect(view[2..<5].description == ",bc")
            #expect(view.prefix(99).count == 6)
            #expect(view.dropFirst(99).isEmpty)
        }
        with("") { #expect($0.firstIndex(of: 0) == nil && $0.first == nil && $0.last == nil) }
        with("  x y  ") { #expect($0.trimmed == "x y") }
        with("   ") { #expect($0.trimmed.isEmpty) }
    }

    @Test(
        arguments: [
            ("0", 0), ("42", 42), ("2147483647", 2_147_483_647), ("2147483648", nil), ("", nil), ("-1", nil),
            ("1a", nil),
            ("99999999999999999999999", nil), ("007", 7),
        ] as [(String, Int?)])
    func decimals(_ text: String, _ value: Int?) {
        ByteString(text).withView { #expect($0.decimal() == value) }
    }

    @Test func caseIsASCIIOnly() {
        with("ÄBC[") { view in
            #expect(view.equalsIgnoringCase("Äbc["))
            #expect(!view.equalsIgnoringCase("äbc["))
            #expect(!view.equalsIgnoringCase("Äbc{"))
        }
    }
}

@Suite struct ByteBufferTests {
    @Test func numbersAreWrittenAsTheyAre() {
        for number in [0, 7, 9, 10, 99, 100, 12_345, -1, -10, Int.max, Int.min, 1_000_000_000_000_000_000] {
            var buffer = ByteBuffer()
            buffer.append(number: number)
            #expect(buffer.view.description == String(number))
        }
    }

    @Test func consumingMovesTheRestAndGivesMemoryBack() {
        var buffer = ByteBuffer()
        #expect(buffer.allocated as Int == 0)
        for i in 0..<1000 { buffer.append(byte: UInt8(i % 251)) }
        buffer.consume(990)
        #expect(buffer.count == 10)
        #expect(buffer.view[0] == UInt8(990 % 251))
        buffer.consume(10)
        let left = buffer.count
        #expect(left == 0)
        #expect(buffer.allocated as Int == 0)
    }

    @Test func truncateAndAppendUnsafe() {
        var buffer = ByteBuffer()
        buffer.append("hello" as ByteString)
        buffer.truncate(2)
        buffer.appendUnsafe(3) { room in
            room[0] = 0x79
            return 1
        }
        #expect(buffer.view == "hey")
    }
}

@Suite struct CodingTests {
    @Test func base64IsTheStandards() {
        // RFC 4648, section 10.
        let vectors: [(String, String)] = [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
        for (plain, coded) in vectors {
            #expect(Base64.encode(Array(plain.utf8)).string == coded)
            #expect(ByteString(coded).withView { Base64.decode($0) } == Array(plain.utf8))
        }
    }

    @Test func base64OfEveryByteInEveryPlace() {
        for length in 0...70 {
            for start in stride(from: 0, to: 256, by: 7) {
                let bytes = (0..<length).map { UInt8(truncatingIfNeeded: start + $0 * 73) }
                let text = Base64.encode(bytes)
                #expect(text.count == (length + 2) / 3 * 4)
                #expect(text.withView { Base64.decode($0) } == bytes)
                #expect(text.string == Data(bytes).base64EncodedString())
                var buffer = ByteBuffer()
                buffer.append("before " as StaticString)
                bytes.withUnsafeBytes { Base64.encode(ByteView($0), into: &buffer) }
                #expect(buffer.view.description == "before \(text)")
            }
        }
    }

    @Test func noOtherByteIsBase64() {
        for byte in UInt8.min...UInt8.max {
            let isOf = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8).contains(byte)
            for place in 0..<8 {
                var text = Array("QUJDREVG".utf8)
                text[place] = byte
                // At the end of the last group padding may stand.
                let isRight = isOf || (byte == 0x3D && place == 7)
                let decoded = text.withUnsafeBytes { Base64.decode(ByteView($0)) }
                #expect((decoded != nil) == isRight || place >= 6, "\(byte) in place \(place)")
                if !isOf, place < 6 { #expect(decoded == nil) }
            }
        }
    }

    @Test(arguments: ["Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Z g=", "Zg==Zg==", "====", "Zm9v\n", "Zm9*"])
    func base64RefusesWhatIsNotCanonical(_ text: String) {
        #expect(ByteString(text).withView { Base64.decode($0) } == nil)
    }

    @Test func base32NumbersSortAsText() {
        let numbers: [UInt64] = [0, 1, 31, 32, 1_000, 123_456_789, 1 << 40, 1 << 59]
        let texts = numbers.map { Base32.encode($0, width: 12) }
        #expect(texts.map(\.string) == texts.map(\.string).sorted())
        for (number, text) in zip(numbers, texts) {
            #expect(text.count == 12)
            #expect(text.withView { Base32.decode($0) } == number)
        }
        for bad: ByteString in ["", "abci", "ABC", "a b", "0123456789abc"] {
            #expect(bad.withView { Base32.decode($0) } == nil)
        }
    }

    @Test func hexAndBase32OfBytes() {
        #expect(Hex.encode([0, 15, 255]) == "000fff")
        #expect(Base32.encode([0xFF, 0xFF, 0xFF, 0xFF, 0xFF]) == "zzzzzzzz")
        #expect(Base32.encode([0xFF]) == "zw")
    }

    @Test func secretsAreComparedWhole() {
        let secret: ByteString = "0123456789"
        for (other, isEqual) in [("0123456789", true), ("012345678", false), ("0123456788", false), ("", false)] {
            #expect(
                secret.withView { a in ByteString(other).withView { constantTimeEquals(a, $0) } } == isEqual)
        }
    }
}

@Suite struct ByteStringTests {
    @Test func interpolationPutsBytesTogether() {
        let nick: ByteString = "ana"
        let line: ByteString = "\(nick) \(42) \("x" as StaticString)\(byte: 0x21) \(String("é"))"
        #expect(line.string == "ana 42 x! é")
        // A ternary makes a Swift string of its branches; it must still be the text.
        let isNamed = !nick.isEmpty
        let text: ByteString = "\(isNamed ? "* \(nick)" : "")"
        #expect(text.string == "* ana")
    }

    @Test func equalityIsByBytes() {
        let composed = ByteString("\u{E9}")
        let decomposed = ByteString("e\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }
}

@Suite struct Base64StreamTests {
    private func decode(_ pieces: [String]) -> [UInt8]? {
        var stream = Base64Stream()
        var decoded: [UInt8] = []
        for piece in pieces {
            guard let bytes = ByteString(piece).withView({ stream.decode($0) }) else { return nil }
            decoded += bytes
        }
        return stream.isWhole ? decoded : nil
    }

    @Test func piecesOfAnyLengthAreTheWhole() {
        let bytes = (0..<100).map { UInt8($0 * 7 % 256) }
        let text = Base64.encode(bytes).string
        for size in 1...20 {
            var pieces: [String] = []
            var rest = Substring(text)
            while !rest.isEmpty {
                pieces.append(String(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(decode(pieces) == bytes)
        }
    }

    @Test(arguments: [["QQ==", "QQ=="], ["QUJ"], ["Q=", "=="], ["QQ==A"], ["QR=="], ["Q QQ"], ["Q-_Q"], ["QQ=A"]])
    func whatIsNotBase64(pieces: [String]) { #expect(decode(pieces) == nil) }

    @Test(arguments: [1, 3, 4, 60, 75, 76, 1000, 5000])
    func linesOfAnyLengthAreTheWhole(width: Int) {
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let text = Array(Base64.encode(bytes).bytes)
        for end in ["\n", "\r\n"] {
            let lines = stride(from: 0, to: text.count, by: width).map {
                String(decoding: text[$0..<min(text.count, $0 + width)], as: UTF8.self) + end
            }
            #expect(decode([lines.joined()]) == bytes)
            #expect(decode(lines) == bytes)
        }
    }

    @Test func paddingMayBeDivided() { #expect(decode(["QQ", "=", "="]) == [0x41]) }
}
