import Bytes

/// GIF89a. What stays: the frames, their timing, the loop, the colour profile. What goes: comments, texts, and
/// application data that is none of these.
struct GIFCleaner {
    private enum Block {
        static let fileExtension: UInt8 = 0x21
        static let image: UInt8 = 0x2C
        static let trailer: UInt8 = 0x3B
        static let text: UInt8 = 0x01
        static let control: UInt8 = 0xF9
        static let application: UInt8 = 0xFF
    }

    private var scanner: ImageScanner
    private let limits: ImageLimits
    private var out: [UInt8] = []
    private var width = 0
    private var height = 0
    private var frames = 0
    private var pixels = 0
    private var hasColours = false
    /// A control block belongs to the frame behind it.
    private var control: ByteView?

    static func clean(_ bytes: ByteView, _ limits: ImageLimits) throws(ImageFault) -> CleanImage {
        var cleaner = GIFCleaner(bytes, limits)
        try cleaner.run()
        return CleanImage(kind: .gif, width: cleaner.width, height: cleaner.height, bytes: cleaner.out)
    }

    private init(_ bytes: ByteView, _ limits: ImageLimits) {
        scanner = ImageScanner(bytes)
        self.limits = limits
        out.reserveCapacity(bytes.count)
    }

    private mutating func run() throws(ImageFault) {
        let screen = try scanner.take(13)
        (width, height) = (screen.little(6, 2), screen.little(8, 2))
        try limits.check(width: width, height: height)
        out.append(screen)
        hasColours = try colours(screen[10])
        while true {
            let block = try scanner.byte()
            if block == Block.trailer { break }
            switch block {
            case Block.fileExtension: try takeExtension()
            case Block.image: try image()
            default: throw .broken("something stands between its blocks")
            }
        }
        guard frames > 0 else { throw .broken("there is no picture in it") }
        guard scanner.rest.isZero else { throw .broken("something stands behind its end") }
        out.append(Block.trailer)
    }

    /// The colour table that the flags announce; whether there is one.
    private mutating func colours(_ flags: UInt8) throws(ImageFault) -> Bool {
        guard flags & 0x80 != 0 else { return false }
        out.append(try scanner.take(3 << Int(flags & 7 + 1)))
        return true
    }

    private mutating func image() throws(ImageFault) {
        if let control { out.append(control) }
        control = nil
        let place = try scanner.take(9)
        let (width, height) = (place.little(4, 2), place.little(6, 2))
        try limits.check(width: width, height: height)
        frames += 1
        pixels += width * height
        try limits.check(frames: frames, pixels: pixels)
        out.append(Block.image)
        out.append(place)
        guard try colours(place[8]) || hasColours else { throw .broken("a frame has no colours") }
        let codeSize = try scanner.byte()
        guard 2...8 ~= codeSize else { throw .broken("its pixels are not what they should be") }
        out.append(codeSize)
        let data = try subBlocks()
        guard data.count > 1 else { throw .broken("a frame is empty") }
        out.append(data)
    }

    private mutating func takeExtension() throws(ImageFault) {
        let label = try scanner.byte()
        let data = try subBlocks()
        if label == Block.control {
            guard data.count == 6, data[0] == 4 else { throw .broken("a control block is wrong") }
            control = nil
            let start = scanner.at - data.count - 2
            control = scanner.bytes[start..<scanner.at]
        } else if label == Block.text {
            control = nil
        } else if label == Block.application, isKept(data) {
            out += [Block.fileExtension, label]
            out.append(data)
        }
    }

    /// The loop of an animation, and the colour profile (ICC.1, Annex B.6).
    private func isKept(_ data: ByteView) -> Bool {
        guard data.count > 12, data[0] == 11 else { return false }
        let name = data[1..<12]
        let isLoop = name == "NETSCAPE2.0" || name == "ANIMEXTS1.0"
        return isLoop ? data.count <= 32 : name == "ICCRGBG1012" && data.count <= limits.profile
    }

    /// Lengths and data up to the empty block that ends them, that one included.
    private mutating func subBlocks() throws(ImageFault) -> ByteView {
        let start = scanner.at
        while true {
            let length = try scanner.byte()
            if length == 0 { return scanner.bytes[start..<scanner.at] }
            _ = try scanner.take(Int(length))
        }
    }
}
