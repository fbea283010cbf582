/// RFC 4648 base64 with padding, strict: no spaces, no line ends, no stray bits.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [Int8] = {
        var table = [Int8](repeating: -1, count: 256)
        for (value, byte) in alphabet.enumerated() { table[Int(byte)] = Int8(value) }
        return table
    }()
    private static let none: UInt32 = 1 << 31
    /// For each of the four places of a group and each byte: its six bits where they belong, or `none`.
    private static let places: [UInt32] = (0..<4).flatMap { place in
        values.map { $0 < 0 ? none : UInt32($0) << UInt32(18 - 6 * place) }
    }
    /// Two characters for each twelve bits, the first one in the lower byte.
    private static let pairs: [UInt16] = (0..<4096).map { UInt16(alphabet[$0 >> 6]) | UInt16(alphabet[$0 & 63]) << 8 }

    // MARK: Encoding

    package static func encode(_ bytes: [UInt8]) -> ByteString {
        ByteString(
            [UInt8](unsafeUninitializedCapacity: length(of: bytes.count)) { room, count in
                count = bytes.withUnsafeBytes { encode($0, into: UnsafeMutableRawBufferPointer(room)) }
            })
    }

    package static func encode(_ bytes: ByteView, into out: inout ByteBuffer) {
        out.appendUnsafe(length(of: bytes.count)) { encode(bytes.raw, into: $0) }
    }

    private static func length(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// How many characters were written.
    private static func encode(_ bytes: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer) -> Int {
        precondition(out.count >= length(of: bytes.count))
        let whole = bytes.count / 3
        pairs.withUnsafeBufferPointer { pairs in
            for group in 0..<whole {
                let word =
                    UInt32(bytes[3 * group]) << 16 | UInt32(bytes[3 * group + 1]) << 8 | UInt32(bytes[3 * group + 2])
                let characters = UInt32(pairs[Int(word >> 12)]) | UInt32(pairs[Int(word & 4095)]) << 16
                out.storeBytes(of: characters.littleEndian, toByteOffset: 4 * group, as: UInt32.self)
            }
        }
        let left = bytes.count - 3 * whole
        if left == 0 { return 4 * whole }
        let word = UInt32(bytes[3 * whole]) << 16 | (left > 1 ? UInt32(bytes[3 * whole + 1]) << 8 : 0)
        out[4 * whole] = alphabet[Int(word >> 18)]
        out[4 * whole + 1] = alphabet[Int(word >> 12 & 63)]
        out[4 * whole + 2] = left > 1 ? alphabet[Int(word >> 6 & 63)] : 0x3D
        out[4 * whole + 3] = 0x3D
        return 4 * whole + 4
    }

    // MARK: Decoding

    /// nil when the text is not base64 in its one canonical form.
    package static func decode(_ text: ByteView) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        if text.isEmpty { return [] }
        var isRight = false
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { room, count in
            let groups = text.count / 4 - 1
            let room = UnsafeMutableRawBufferPointer(room)
            guard decode(text.raw, groups: groups, into: room) == groups else { return }
            let last = last(text.dropFirst(4 * groups))
            for (i, byte) in last.enumerated() { room[3 * groups + i] = byte }
            count = 3 * groups + last.count
            isRight = !last.isEmpty
        }
        return isRight ? bytes : nil
    }

    /// Up to the first group that is not of four characters of the alphabet; how many there were.
    fileprivate static func decode(
        _ text: UnsafeRawBufferPointer, groups: Int, into out: UnsafeMutableRawBufferPointer
    ) -> Int {
        precondition(groups >= 0 && text.count >= 4 * groups && out.count >= 3 * groups)
        return places.withUnsafeBufferPointer { places in
            for group in 0..<groups {
                let word = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: 4 * group, as: UInt32.self))
                let bits =
                    places[Int(word & 255)] | places[256 + Int(word >> 8 & 255)] | places[512 + Int(word >> 16 & 255)]
                    | places[768 + Int(word >> 24)]
                if bits & none != 0 { return group }
                out.storeBytes(of: UInt16(bits >> 8).bigEndian, toByteOffset: 3 * group, as: UInt16.self)
                out[3 * group + 2] = UInt8(truncatingIfNeeded: bits)
            }
            return groups
        }
    }

    /// The bytes of the last group, which may be padded; none: it is wrong.
    private static func last(_ text: ByteView) -> [UInt8] {
        let padding = text[3] == 0x3D ? (text[2] == 0x3D ? 2 : 1) : 0
        var word: UInt32 = 0
        for j in 0..<4 {
            let value = j < 4 - padding ? values[Int(text[j])] : 0
            if value < 0 { return [] }
            word = word << 6 | UInt32(value)
        }
        if word & ((1 << UInt32(8 * padding)) - 1) != 0 { return [] }
        return [UInt8(word >> 16), UInt8(word >> 8 & 255), UInt8(word & 255)].dropLast(padding)
    }
}

/// Base64 that comes in pieces of any length and in lines of any length, as when a file is pasted.
package struct Base64Stream: Sendable {
    /// Characters that do not make a group of four yet.
    private var held: [UInt8] = []
    private var isPadded = false

    package init() {}

    /// Everything so far is whole: no group was left open.
    package var isWhole: Bool { held.isEmpty }

    /// The bytes of all groups that are complete now; nil: this is not base64 in its canonical form.
    package mutating func decode(_ text: ByteView) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity((held.count + text.count) / 4 * 3)
        var at = 0
        while at < text.count {
            if held.isEmpty, !isPadded { at += decodeGroups(text.dropFirst(at), into: &bytes) }
            // What is no plain group, a character at a time: to the end of a line, of a piece, of the text.
            repeat {
                if at == text.count { return bytes }
                guard take(text[at], into: &bytes) else { return nil }
                at += 1
            } while !held.isEmpty
        }
        return bytes
    }

    /// How many characters of whole groups the text begins with.
    private func decodeGroups(_ text: ByteView, into bytes: inout [UInt8]) -> Int {
        var done = 0
        withUnsafeTemporaryAllocation(byteCount: 3 * 1024, alignment: 16) { room in
            while true {
                let groups = min(1024, (text.count - done) / 4)
                let decoded = Base64.decode(text.dropFirst(done).raw, groups: groups, into: room)
                bytes.append(contentsOf: room[..<(3 * decoded)])
                done += 4 * decoded
                if decoded < 1024 { return }
            }
        }
        return done
    }

    private mutating func take(_ character: UInt8, into bytes: inout [UInt8]) -> Bool {
        if character == 0x0A || character == 0x0D { return true }
        if isPadded { return false }
        held.append(character)
        if held.count < 4 { return true }
        guard let decoded = held.withUnsafeBytes({ Base64.decode(ByteView($0)) }) else { return false }
        isPadded = character == 0x3D
        bytes += decoded
        held.removeAll(keepingCapacity: true)
        return true
    }
}
