import Bytes

/// PNG (Third Edition), animated ones included. What stays: the picture, its frames, colour and transparency. What
/// goes: texts, times, camera notes but the orientation, and chunks that are not known.
struct PNGCleaner {
    private static let kept: [StaticString] = [
        "PLTE", "IDAT", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "bKGD", "hIST", "pHYs", "cICP", "mDCV", "cLLI",
        "acTL", "fcTL", "fdAT",
    ]
    /// Chunks that may come more than once.
    private static let repeated: [StaticString] = ["IDAT", "fcTL", "fdAT"]
    private static let longestChunk = 0x7FFF_FFFF
    /// Deflate makes at most 1032 bytes of one.
    private static let mostExpansion = 1032

    private var scanner: ImageScanner
    private let limits: ImageLimits
    private var out: [UInt8] = []
    private var header = Header()
    private var seen: [Int] = []
    private var dataBytes = 0
    private var isDataOver = false
    private var hasPalette = false
    private var animation = Animation()
    /// Of the present chunk.
    private var checksum = 0

    private struct Header {
        var width = 0
        var height = 0
        var depth = 0
        var colour = 0

        /// Bytes of the picture before it was compressed, filter bytes left out.
        var rawBytes: Int {
            let samples = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colour] ?? 1
            return width * samples * depth / 8 * height
        }
    }

    private struct Animation {
        var declared: Int?
        var frames = 0
        var pixels = 0
        var sequence = 0
    }

    static func clean(_ bytes: ByteView, _ limits: ImageLimits) throws(ImageFault) -> CleanImage {
        var cleaner = PNGCleaner(bytes, limits)
        try cleaner.run()
        return CleanImage(
            kind: .png, width: cleaner.header.width, height: cleaner.header.height, bytes: cleaner.out)
    }

    private init(_ bytes: ByteView, _ limits: ImageLimits) {
        scanner = ImageScanner(bytes)
        self.limits = limits
        out.reserveCapacity(bytes.count)
    }

    private mutating func run() throws(ImageFault) {
        out.append(try scanner.take(8))
        let (type, body) = try chunk()
        guard type == "IHDR" else { throw .broken("it does not begin with its size") }
        try read(header: body)
        keep(type, body)
        while true {
            let (type, body) = try chunk()
            if type == "IEND" {
                guard body.isEmpty else { throw .broken("its end is not empty") }
                keep(type, body)
                break
            }
            try take(type, body)
        }
        try checkWhole()
    }

    private mutating func chunk() throws(ImageFault) -> (type: ByteView, body: ByteView) {
        let length = try scanner.big32()
        guard length <= Self.longestChunk else { throw .broken("a chunk's length is wrong") }
        let type = try scanner.take(4)
        let body = try scanner.take(length)
        var crc = CRC32()
        crc.add(type)
        crc.add(body)
        checksum = crc.value
        guard try scanner.big32() == checksum else { throw .broken("a checksum is wrong") }
        guard type.raw.allSatisfy({ ASCII.isLetter($0) }) else { throw .broken("a chunk's name is wrong") }
        return (type, body)
    }

    private mutating func keep(_ type: ByteView, _ body: ByteView) {
        out.append(big: body.count, 4)
        out.append(type)
        out.append(body)
        out.append(big: checksum, 4)
    }

    private mutating func read(header body: ByteView) throws(ImageFault) {
        guard body.count == 13, body[10] == 0, body[11] == 0, body[12] <= 1 else {
            throw .broken("its header is wrong")
        }
        header = Header(width: body.big(0, 4), height: body.big(4, 4), depth: Int(body[8]), colour: Int(body[9]))
        let depths: [Int: [Int]] = [0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]]
        guard depths[header.colour]?.contains(header.depth) ?? false else { throw .broken("its colours are wrong") }
        try limits.check(width: header.width, height: header.height)
    }

    private mutating func take(_ type: ByteView, _ body: ByteView) throws(ImageFault) {
        let isData = type == "IDAT"
        if dataBytes > 0, !isData { isDataOver = true }
        guard Self.kept.contains(where: { type == $0 }) else {
            if type == "eXIf" { return orientation(body) }
            // The fifth bit of the first letter: may be left out by who does not know it.
            guard type[0] & 0x20 != 0 else { throw .broken("it has a chunk that must be known and is not") }
            return
        }
        if !Self.repeated.contains(where: { type == $0 }) {
            guard !seen.contains(type.big(0, 4)) else { throw .broken("a chunk comes twice") }
            seen.append(type.big(0, 4))
        }
        if isData {
            guard !isDataOver else { throw .broken("its picture is in two places") }
            if dataBytes == 0, body.count >= 2, !isZlib(body) {
                throw .broken("its pixels are not what they should be")
            }
            dataBytes += body.count
        } else if type == "PLTE" {
            guard dataBytes == 0, body.count % 3 == 0, 3...768 ~= body.count else {
                throw .broken("its palette is wrong")
            }
            hasPalette = true
        } else if type == "iCCP" {
            if body.count > limits.profile { throw .tooLarge("its colour profile is too large") }
        } else {
            try animate(type, body)
        }
        keep(type, body)
    }

    /// RFC 1950: deflate, and a checksum of the two bytes.
    private func isZlib(_ body: ByteView) -> Bool { body[0] & 0x0F == 8 && body.big(0, 2) % 31 == 0 }

    private mutating func orientation(_ body: ByteView) {
        guard dataBytes == 0, !seen.contains(0), let orientation = Exif.orientation(tiff: body) else { return }
        // A number that no chunk's name is.
        seen.append(0)
        let tiff = Exif.tiff(orientation: orientation)
        tiff.withUnsafeBytes { tiff in
            var crc = CRC32()
            crc.add(ByteView("eXIf"))
            crc.add(ByteView(tiff))
            checksum = crc.value
            keep(ByteView("eXIf"), ByteView(tiff))
        }
    }

    // MARK: Animation

    private mutating func animate(_ type: ByteView, _ body: ByteView) throws(ImageFault) {
        if type == "acTL" {
            guard dataBytes == 0, body.count == 8, body.big(0, 4) > 0 else { throw .broken("its animation is wrong") }
            animation.declared = body.big(0, 4)
            try limits.check(frames: body.big(0, 4), pixels: 0)
        } else if type == "fcTL" {
            try frame(body)
        } else if type == "fdAT" {
            guard body.count >= 4, animation.frames > 0, dataBytes > 0 else { throw .broken("a frame is out of place") }
            try checkSequence(body)
        }
    }

    private mutating func frame(_ body: ByteView) throws(ImageFault) {
        guard body.count == 26, animation.declared != nil else { throw .broken("a frame is wrong") }
        try checkSequence(body)
        let (width, height) = (body.big(4, 4), body.big(8, 4))
        guard width > 0, height > 0, body.big(12, 4) + width <= header.width, body.big(16, 4) + height <= header.height
        else { throw .broken("a frame is outside of the picture") }
        animation.frames += 1
        animation.pixels += width * height
        try limits.check(frames: animation.frames, pixels: animation.pixels)
    }

    private mutating func checkSequence(_ body: ByteView) throws(ImageFault) {
        guard body.big(0, 4) == animation.sequence else { throw .broken("its frames are out of order") }
        animation.sequence += 1
    }

    private func checkWhole() throws(ImageFault) {
        guard dataBytes > 0 else { throw .broken("there is no picture in it") }
        if header.colour == 3, !hasPalette { throw .broken("its palette is missing") }
        if header.rawBytes / Self.mostExpansion > dataBytes { throw .truncated }
        if let declared = animation.declared, declared != animation.frames { throw .broken("frames are missing") }
        guard scanner.rest.isZero else { throw .broken("something stands behind its end") }
    }
}
