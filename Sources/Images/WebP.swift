import Bytes

/// WebP (RFC 9649). What stays: the picture or its frames, transparency, colour profile, orientation. What goes: camera
/// notes, XMP, and chunks that are not known.
struct WebPCleaner {
    private enum Flag {
        static let animation: UInt8 = 0x02
        static let xmp: UInt8 = 0x04
        static let exif: UInt8 = 0x08
        static let alpha: UInt8 = 0x10
        static let profile: UInt8 = 0x20
    }

    private typealias Size = (width: Int, height: Int)

    private let limits: ImageLimits
    private var canvas: Size = (0, 0)
    /// Of the header that announces more than one chunk; nil: there is only the picture.
    private var flags: UInt8?
    private var profile: ByteView?
    private var animation: ByteView?
    private var alpha: ByteView?
    private var picture: (type: ByteView, body: ByteView)?
    private var frames: [UInt8] = []
    private var frameCount = 0
    private var pixels = 0
    private var orientation: UInt8?

    static func clean(_ bytes: ByteView, _ limits: ImageLimits) throws(ImageFault) -> CleanImage {
        var cleaner = WebPCleaner(limits: limits)
        try cleaner.read(bytes)
        return CleanImage(
            kind: .webp, width: cleaner.canvas.width, height: cleaner.canvas.height, bytes: try cleaner.written())
    }

    private init(limits: ImageLimits) { self.limits = limits }

    // MARK: Reading

    private mutating func read(_ bytes: ByteView) throws(ImageFault) {
        let length = bytes.count >= 12 ? bytes.little(4, 4) : 0
        guard length >= 4, length <= bytes.count - 8 else { throw .truncated }
        guard bytes.dropFirst(8 + length).isZero else { throw .broken("something stands behind its end") }
        var scanner = ImageScanner(bytes[12..<8 + length])
        while scanner.left > 0 {
            let (type, body) = try Self.chunk(&scanner)
            try take(type, body)
        }
        if let picture, flags == nil { canvas = try size(of: picture.type, picture.body) }
        try checkWhole()
    }

    /// Name, length, data, and a byte that makes it even.
    private static func chunk(_ scanner: inout ImageScanner) throws(ImageFault) -> (type: ByteView, body: ByteView) {
        let type = try scanner.take(4)
        let body = try scanner.take(try scanner.little32())
        // Some encoders forget the last one.
        if body.count % 2 == 1, scanner.left > 0 { _ = try scanner.byte() }
        return (type, body)
    }

    private mutating func take(_ type: ByteView, _ body: ByteView) throws(ImageFault) {
        if type == "VP8X" {
            try header(body)
        } else if type == "VP8 " || type == "VP8L" {
            guard picture == nil, frameCount == 0 else { throw .broken("it has two pictures") }
            _ = try size(of: type, body)
            picture = (type, body)
        } else if flags == nil {
            // Whatever else a simple file has is no part of the picture.
            return
        } else if type == "ANMF" {
            try frame(body)
        } else if type == "ICCP" {
            if body.count > limits.profile { throw .tooLarge("its colour profile is too large") }
            try Self.once(&profile, body)
        } else if type == "ANIM" {
            guard body.count == 6 else { throw .broken("its animation is wrong") }
            try Self.once(&animation, body)
        } else if type == "ALPH" {
            guard picture == nil else { throw .broken("its transparency is out of place") }
            try Self.once(&alpha, body)
        } else if type == "EXIF" {
            let tiff = body.hasPrefix("Exif\0\0") ? body.dropFirst(6) : body
            orientation = orientation ?? Exif.orientation(tiff: tiff)
        }
    }

    private static func once(_ place: inout ByteView?, _ body: ByteView) throws(ImageFault) {
        guard place == nil else { throw .broken("a chunk comes twice") }
        place = body
    }

    private mutating func header(_ body: ByteView) throws(ImageFault) {
        guard flags == nil, picture == nil, body.count == 10 else { throw .broken("its header is wrong") }
        flags = body[0]
        canvas = (body.little(4, 3) + 1, body.little(7, 3) + 1)
        try limits.check(width: canvas.width, height: canvas.height)
    }

    /// By the picture's own header (RFC 6386, 9.1; RFC 9649, 3.4).
    private func size(of type: ByteView, _ body: ByteView) throws(ImageFault) -> Size {
        let size: Size
        if type == "VP8L" {
            guard body.count > 5, body[0] == 0x2F, body[4] >> 5 == 0 else { throw .broken("its pixels are wrong") }
            let word = body.little(1, 4)
            size = (word & 0x3FFF + 1, word >> 14 & 0x3FFF + 1)
        } else {
            guard body.count > 10, body[0] & 1 == 0, body.big(3, 3) == 0x9D012A else {
                throw .broken("its pixels are wrong")
            }
            // The first partition ends within.
            guard body.little(0, 3) >> 5 <= body.count - 10 else { throw .truncated }
            size = (body.little(6, 2) & 0x3FFF, body.little(8, 2) & 0x3FFF)
        }
        try limits.check(width: size.width, height: size.height)
        return size
    }

    private mutating func frame(_ body: ByteView) throws(ImageFault) {
        guard picture == nil, animation != nil, body.count > 16 else { throw .broken("a frame is wrong") }
        let place: Size = (body.little(0, 3) * 2, body.little(3, 3) * 2)
        let size: Size = (body.little(6, 3) + 1, body.little(9, 3) + 1)
        guard place.width + size.width <= canvas.width, place.height + size.height <= canvas.height else {
            throw .broken("a frame is outside of the picture")
        }
        frameCount += 1
        pixels += size.width * size.height
        try limits.check(frames: frameCount, pixels: pixels)
        var clean = [UInt8]()
        clean.append(body.prefix(16))
        try frameData(body.dropFirst(16), size, into: &clean)
        clean.withUnsafeBytes { Self.write(ByteView("ANMF"), ByteView($0), to: &frames) }
    }

    /// Transparency and picture; a frame within a frame there is not.
    private func frameData(_ bytes: ByteView, _ size: Size, into out: inout [UInt8]) throws(ImageFault) {
        var scanner = ImageScanner(bytes)
        var hasPicture = false
        var hasAlpha = false
        while scanner.left > 0 {
            let (type, body) = try Self.chunk(&scanner)
            if type == "VP8 " || type == "VP8L" {
                guard !hasPicture, try self.size(of: type, body) == size else { throw .broken("a frame is wrong") }
                hasPicture = true
            } else if type == "ALPH" {
                guard !hasAlpha, !hasPicture else { throw .broken("its transparency is out of place") }
                hasAlpha = true
            } else if type == "ANMF" || type == "VP8X" || type == "ANIM" {
                throw .broken("a frame holds a file")
            } else {
                continue
            }
            Self.write(type, body, to: &out)
        }
        guard hasPicture else { throw .broken("a frame is empty") }
    }

    private func checkWhole() throws(ImageFault) {
        guard let flags else {
            guard picture != nil else { throw .broken("there is no picture in it") }
            return
        }
        let isAnimated = flags & Flag.animation != 0
        guard isAnimated == (animation != nil), isAnimated == (frameCount > 0), isAnimated != (picture != nil) else {
            throw .broken("there is no picture in it, or more than one")
        }
        guard let picture else { return }
        guard try size(of: picture.type, picture.body) == canvas else { throw .broken("it has two sizes") }
        if alpha != nil, picture.type != "VP8 " { throw .broken("its transparency is out of place") }
    }

    // MARK: Writing

    private func written() throws(ImageFault) -> [UInt8] {
        var out = Array("RIFF\0\0\0\0WEBP".utf8)
        if let flags {
            var header: [UInt8] = [flags & (Flag.animation | Flag.alpha), 0, 0, 0]
            if profile != nil { header[0] |= Flag.profile }
            if orientation != nil { header[0] |= Flag.exif }
            header.append(little: canvas.width - 1, 3)
            header.append(little: canvas.height - 1, 3)
            header.withUnsafeBytes { Self.write(ByteView("VP8X"), ByteView($0), to: &out) }
        }
        if let profile { Self.write(ByteView("ICCP"), profile, to: &out) }
        if let animation { Self.write(ByteView("ANIM"), animation, to: &out) }
        out += frames
        if let alpha { Self.write(ByteView("ALPH"), alpha, to: &out) }
        if let picture { Self.write(picture.type, picture.body, to: &out) }
        if let orientation {
            let tiff = Exif.tiff(orientation: orientation)
            tiff.withUnsafeBytes { Self.write(ByteView("EXIF"), ByteView($0), to: &out) }
        }
        let length = out.count - 8
        for i in 0..<4 { out[4 + i] = UInt8(truncatingIfNeeded: length >> (8 * i)) }
        return out
    }

    private static func write(_ type: ByteView, _ body: ByteView, to out: inout [UInt8]) {
        out.append(type)
        out.append(little: body.count, 4)
        out.append(body)
        if body.count % 2 == 1 { out.append(0) }
    }
}
