import Bytes
import Wire

/// Help for those who mistype.
enum Suggestion {
    static func nearest(to word: String, among candidates: [StaticString]) -> String? {
        ByteString(word).withView { nearestWord($0, among: candidates) }?.description
    }

    /// Foreign text for one line of output: control characters as `?`, long text cut.
    static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(80).map { isControl($0) ? "?" : $0 }))
    }

    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
