package import Bytes
import CSystem
import Glibc

/// Why the data directory cannot be used, in words for the operator.
package struct DataRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
}

/// The server's secret: the key of guests' tokens and of cloaked addresses. Whoever has it can be anybody, so it shows
/// itself to nobody: not in logs, not in a debugger's description.
package struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// 32 of them.
    package let bytes: ByteString

    package static let length = 32

    package var description: String { "(secret)" }

    package var debugDescription: String { description }

    /// From its file, which is made at the first start. Refused when it has another length, or when others may read it.
    package static func load(_ path: String) throws(DataRefusal) -> Secret {
        do {
            if !Files.exists(path) { try Files.replace(path, with: random(), mode: 0o600) }
            let mode = try Files.mode(path)
            guard mode & 0o007 == 0 else {
                throw DataRefusal(
                    description: "\(path) can be read by everybody; chmod 600 \(path), or remove it for a new one")
            }
            let bytes = try Files.read(path, limit: 4096)
            guard bytes.count == length else {
                throw DataRefusal(
                    description:
                        "\(path) has \(bytes.count) bytes and should have \(length): restore it, or remove it for "
                        + "a new one, which makes all guests' tokens void")
            }
            return Secret(bytes: ByteString(bytes))
        } catch let failure as Files.Failure {
            throw DataRefusal(description: "\(path): \(failure.reason)")
        } catch let refusal as DataRefusal {
            throw refusal
        } catch {
            throw DataRefusal(description: "\(path): \(error)")
        }
    }

    private static func random() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: length)
        // getrandom(2): up to 256 bytes come whole once the system has entropy.
        precondition(getrandom(&bytes, length, 0) == length, "the system has no randomness")
        return bytes
    }
}
