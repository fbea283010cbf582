import Bytes

/// ITU-T T.81, Annex B. What stays: tables, frame and scans as they are, JFIF without its thumbnail, colour profile,
/// Adobe's colour transform, orientation. What goes: all other application segments and comments.
struct JPEGCleaner {
    private enum Marker {
        static let start: UInt8 = 0xD8
        static let end: UInt8 = 0xD9
        static let scan: UInt8 = 0xDA
        static let quantisation: UInt8 = 0xDB
        static let huffman: UInt8 = 0xC4
        static let restartInterval: UInt8 = 0xDD
    }

    private var scanner: ImageScanner
    private let limits: ImageLimits
    private var out: [UInt8] = [0xFF, Marker.start]
    private var size: (width: Int, height: Int)?
    private var scans = 0
    private var profileBytes = 0
    private var hasJFIF = false
    private var hasExif = false

    static func clean(_ bytes: ByteView, _ limits: ImageLimits) throws(ImageFault) -> CleanImage {
        var cleaner = JPEGCleaner(bytes, limits)
        try cleaner.run()
        guard let size = cleaner.size, cleaner.scans > 0 else { throw .broken("there is no picture in it") }
        return CleanImage(kind: .jpeg, width: size.width, height: size.height, bytes: cleaner.out)
    }

    private init(_ bytes: ByteView, _ limits: ImageLimits) {
        scanner = ImageScanner(bytes)
        self.limits = limits
        out.reserveCapacity(bytes.count)
    }

    private mutating func run() throws(ImageFault) {
        _ = try scanner.take(2)
        while true {
            let marker = try nextMarker()
            if marker == Marker.end { break }
            try segment(marker)
        }
        out += [0xFF, Marker.end]
        try checkTrailer(scanner.rest)
    }

    /// `FF`, any number of fill bytes, the code.
    private mutating func nextMarker() throws(ImageFault) -> UInt8 {
        guard try scanner.byte() == 0xFF else { throw .broken("something stands between its segments") }
        var code = try scanner.byte()
        while code == 0xFF { code = try scanner.byte() }
        return code
    }

    private mutating func segment(_ marker: UInt8) throws(ImageFault) {
        guard marker >= 0xC0, !(0xD0...0xD8 ~= marker) else { throw .broken("a marker is where none may be") }
        let length = try scanner.big16()
        guard length >= 2 else { throw .broken("a segment has no length") }
        let body = try scanner.take(length - 2)
        switch marker {
        case 0xC0, 0xC1, 0xC2: try frame(marker, body)
        case Marker.huffman, Marker.quantisation, Marker.restartInterval: keep(marker, body)
        case Marker.scan: try scan(body)
        case 0xE0: jfif(body)
        case 0xE1: exif(body)
        case 0xE2: try profile(body)
        case 0xEE: if body.hasPrefix("Adobe"), body.count >= 12 { keep(marker, body.prefix(12)) }
        case 0xE3...0xEF, 0xFE: break
        default: throw .broken("it is a kind of JPEG that is not shown everywhere")
        }
    }

    private mutating func keep(_ marker: UInt8, _ body: ByteView) {
        out += [0xFF, marker]
        out.append(big: body.count + 2, 2)
        out.append(body)
    }

    /// Baseline, extended and progressive with Huffman coding, 8 bits a sample.
    private mutating func frame(_ marker: UInt8, _ body: ByteView) throws(ImageFault) {
        guard size == nil else { throw .broken("it has two frames") }
        guard body.count >= 6, body[0] == 8, 1...4 ~= body[5], body.count == 6 + 3 * Int(body[5]) else {
            throw .broken("its frame header is wrong")
        }
        let (height, width) = (body.big(1, 2), body.big(3, 2))
        try limits.check(width: width, height: height)
        size = (width, height)
        keep(marker, body)
    }

    private mutating func scan(_ body: ByteView) throws(ImageFault) {
        guard size != nil, let components = body.first, 1...4 ~= components, body.count == 4 + 2 * Int(components)
        else { throw .broken("a scan header is wrong") }
        scans += 1
        if scans > limits.scans { throw .tooLarge("more than the \(limits.scans) scans that are allowed") }
        keep(Marker.scan, body)
        let data = try entropyCodedData()
        if data.isEmpty { throw .broken("a scan is empty") }
        out.append(data)
    }

    /// Up to the next marker; `FF 00` is data, and so are restart markers.
    private mutating func entropyCodedData() throws(ImageFault) -> ByteView {
        let rest = scanner.rest
        var at = 0
        while let mark = rest.firstIndex(of: 0xFF, from: at), mark + 1 < rest.count {
            let code = rest[mark + 1]
            if code != 0, !(0xD0...0xD7 ~= code) { return try scanner.take(mark) }
            at = mark + 2
        }
        throw .truncated
    }

    // MARK: Application segments

    /// JFIF 1.02: the density stays, the thumbnail goes.
    private mutating func jfif(_ body: ByteView) {
        guard !hasJFIF, body.hasPrefix("JFIF\0"), body.count >= 14 else { return }
        hasJFIF = true
        out += [0xFF, 0xE0]
        out.append(big: 16, 2)
        out.append(body.prefix(12))
        out.append(big: 0, 2)
    }

    private mutating func exif(_ body: ByteView) {
        guard !hasExif, body.hasPrefix("Exif\0\0"), let orientation = Exif.orientation(tiff: body.dropFirst(6)) else {
            return
        }
        hasExif = true
        let tiff = Exif.tiff(orientation: orientation)
        out += [0xFF, 0xE1]
        out.append(big: 8 + tiff.count, 2)
        out += Array("Exif\0\0".utf8) + tiff
    }

    /// ICC.1, Annex B.4: the profile in numbered parts.
    private mutating func profile(_ body: ByteView) throws(ImageFault) {
        guard body.hasPrefix("ICC_PROFILE\0"), body.count > 14, body[12] > 0, body[12] <= body[13] else { return }
        profileBytes += body.count
        if profileBytes > limits.profile { throw .tooLarge("its colour profile is too large") }
        keep(0xE2, body)
    }

    // MARK: After the end

    /// Cameras and phones put more pictures, films and notes behind the end; these are left out. Anything else makes
    /// the file two things at once.
    private func checkTrailer(_ rest: ByteView) throws(ImageFault) {
        if rest.isEmpty || rest.isZero || rest.startsJPEG { return }
        let isFilm = rest.count > 8 && rest[4..<8] == "ftyp"
        let isSamsungs = rest.count > 4 && rest.dropFirst(rest.count - 4) == "SEFT"
        if !isFilm, !isSamsungs { throw .broken("something stands behind its end") }
    }
}
