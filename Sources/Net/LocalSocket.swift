import CSystem
import Glibc

/// A listening socket at `path`, mode 0600.
func makeLocalSocket(_ path: String) throws(NetError) -> Int32 {
    let descriptor = socket(AF_UNIX, localStream | Int32(SOCK_NONBLOCK.rawValue), 0)
    if descriptor < 0 { throw NetError("cannot make a socket", errno: errno) }
    guard let address = LocalAddress(path) else {
        close(descriptor)
        throw NetError("cannot listen on \(path)", errno: ENAMETOOLONG)
    }
    unlink(path)
    // The mode must hold from the first moment; a chmod would come after it.
    let before = umask(0o177)
    let isBound = address.withKernelForm { bind(descriptor, $0, $1) } == 0
    let code = errno
    umask(before)
    if isBound, listen(descriptor, 16) == 0 { return descriptor }
    let failure = isBound ? errno : code
    close(descriptor)
    throw NetError("cannot listen on \(path)", errno: failure)
}

/// Connects to such a socket and blocks; for the program's own verbs.
package func connectLocally(_ path: String) throws(NetError) -> Int32 {
    guard let address = LocalAddress(path) else { throw NetError("cannot reach \(path)", errno: ENAMETOOLONG) }
    let descriptor = socket(AF_UNIX, localStream, 0)
    if descriptor < 0 { throw NetError("cannot make a socket", errno: errno) }
    if address.withKernelForm({ connect(descriptor, $0, $1) }) == 0 { return descriptor }
    let failure = errno
    close(descriptor)
    throw NetError("cannot reach \(path)", errno: failure)
}

private let localStream = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

private struct LocalAddress {
    private var kernel = sockaddr_un()

    /// nil when the path is too long for the kernel (108 bytes with its end).
    init?(_ path: String) {
        kernel.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &kernel.sun_path) { room in
            guard bytes.count < room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        if !fits { return nil }
    }

    func withKernelForm<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafeBytes(of: kernel) {
            body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
