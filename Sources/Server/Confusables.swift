package import Bytes
import CICU

/// What a name looks like: names with the same skeleton are taken for each other by people (UTS #39, "Confusable
/// Detection"), after case and compatibility forms are folded (NFKC_Casefold).
package struct Confusables: Sendable {
    package struct Missing: Error, CustomStringConvertible {
        package var description: String { "ICU has no data to tell which names look alike" }
    }

    /// ICU's own, as numbers since pointers are not Sendable: immutable once open, and never closed.
    private let checker: Int
    private let form: Int

    /// UTF-16 units. Folding and skeletons lengthen a name at most 18-fold each; a longer one than this is no nick's.
    private static let room = 2048

    package init() throws(Missing) {
        var status = U_ZERO_ERROR
        guard let form = icu_nfkc_casefold(&status), let checker = icu_spoof_open(&status), status.rawValue <= 0 else {
            throw Missing()
        }
        self.form = Int(bitPattern: form)
        self.checker = Int(bitPattern: checker)
    }

    /// The skeleton in ICU's own encoding, to be compared only; the name itself where there is none.
    package func skeleton(_ name: ByteView) -> ByteString {
        var given = [UChar](repeating: 0, count: Self.room)
        var folded = given
        var status = U_ZERO_ERROR
        var length: Int32 = 0
        let room = Int32(Self.room)
        _ = name.raw.withMemoryRebound(to: CChar.self) {
            icu_from_utf8(&given, room, &length, $0.baseAddress, Int32($0.count), &status)
        }
        length = icu_normalize(OpaquePointer(bitPattern: form), given, length, &folded, room, &status)
        length = icu_skeleton(OpaquePointer(bitPattern: checker), folded, length, &given, room, &status)
        guard status.rawValue <= 0 else { return ByteString(name) }
        return given[..<Int(length)].withUnsafeBytes { ByteString(Array($0)) }
    }
}
