package import Bytes

/// What a picture is, by its own bytes. The numbers are the database's.
package enum ImageKind: UInt8, Sendable, CaseIterable {
    case jpeg = 1
    case png
    case gif
    case webp

    /// By the first bytes alone; whether the rest keeps the promise is found out by `cleanImage`.
    package init?(_ bytes: ByteView) {
        if bytes.startsJPEG {
            self = .jpeg
        } else if bytes.startsPNG {
            self = .png
        } else if bytes.hasPrefix("GIF87a") || bytes.hasPrefix("GIF89a") {
            self = .gif
        } else if bytes.hasPrefix("RIFF"), bytes.dropFirst(8).hasPrefix("WEBP") {
            self = .webp
        } else {
            return nil
        }
    }
}

/// How much a picture may ask of who shows it.
package struct ImageLimits: Sendable {
    /// Width times height.
    package var pixels: Int
    /// Pictures in one file.
    package var frames = 5_000
    /// Pixels of all frames together.
    package var animatedPixels: Int { pixels.multipliedReportingOverflow(by: 100).partialValue }
    /// Scans of one progressive JPEG: each costs a decoder a pass over the whole picture.
    package var scans = 500
    /// Bytes of a colour profile.
    package var profile = 4 << 20

    package init(pixels: Int) { self.pixels = pixels }
}

/// A picture without what its author did not mean to tell: the same pixels, colour profile and orientation.
package struct CleanImage: Sendable, Equatable {
    package var kind: ImageKind
    package var width: Int
    package var height: Int
    package var bytes: [UInt8]

    package init(kind: ImageKind, width: Int, height: Int, bytes: [UInt8]) {
        self.kind = kind
        self.width = width
        self.height = height
        self.bytes = bytes
    }
}

/// Why bytes are not taken; the words are for who sent them.
package enum ImageFault: Error, Sendable, Equatable {
    /// None of the kinds that are known.
    case unknown
    case broken(String)
    case tooLarge(String)

    static var truncated: ImageFault { .broken("it ends too early") }
}

/// Takes a picture apart into the segments or chunks of its container, checks each, and puts together what may stay.
/// Compressed pixels are copied and never decoded, so that they stay the same bytes.
///
/// Every step consumes input, nothing is nested deeper than one level, and memory is bounded by the input's size.
package func cleanImage(_ bytes: ByteView, _ limits: ImageLimits) throws(ImageFault) -> CleanImage {
    switch ImageKind(bytes) {
    case .jpeg: try JPEGCleaner.clean(bytes, limits)
    case .png: try PNGCleaner.clean(bytes, limits)
    case .gif: try GIFCleaner.clean(bytes, limits)
    case .webp: try WebPCleaner.clean(bytes, limits)
    case .none: throw .unknown
    }
}

extension ImageLimits {
    func check(width: Int, height: Int) throws(ImageFault) {
        guard width > 0, height > 0 else { throw .broken("it has no pixels") }
        guard width <= pixels / height else {
            throw .tooLarge("\(width)x\(height) are more pixels than the \(pixels) that are allowed")
        }
    }

    func check(frames count: Int, pixels sum: Int) throws(ImageFault) {
        if count > frames { throw .tooLarge("more than the \(frames) frames that are allowed") }
        if sum > animatedPixels { throw .tooLarge("its frames are too many for their size") }
    }
}
