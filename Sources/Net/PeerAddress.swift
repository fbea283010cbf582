package import Bytes
import CSystem
import Glibc

/// An IPv4 or IPv6 address and port, 24 bytes, without the kernel's padding.
package struct PeerAddress: Sendable, Hashable {
    /// Network order in memory; IPv4 is the first four bytes of `high`.
    var high: UInt64 = 0
    var low: UInt64 = 0
    package var port: UInt16 = 0
    package var isIPv6 = false

    package init() {}

    /// nil when `text` is not a numeric address.
    package init?(_ text: String, port: UInt16) {
        self.port = port
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            withUnsafeMutableBytes(of: &high) { $0.storeBytes(of: v4.s_addr, as: UInt32.self) }
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            isIPv6 = true
            withUnsafeBytes(of: v6) { take($0.baseAddress!) }
            unmap()
        } else {
            return nil
        }
    }

    /// Of 4 or 16 bytes in network order.
    init(_ bytes: ByteView, port: UInt16) {
        self.port = port
        if bytes.count == 4 {
            withUnsafeMutableBytes(of: &high) { $0.copyMemory(from: bytes.raw) }
        } else {
            precondition(bytes.count == 16, "an address of \(bytes.count) bytes")
            isIPv6 = true
            take(bytes.raw.baseAddress!)
            unmap()
        }
    }

    private mutating func take(_ sixteen: UnsafeRawPointer) {
        high = sixteen.loadUnaligned(as: UInt64.self)
        low = sixteen.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }

    init(_ storage: sockaddr_storage) {
        withUnsafeBytes(of: storage) { raw in
            if Int32(storage.ss_family) == AF_UNIX {
                self = PeerAddress("127.0.0.1", port: 0)!
            } else if Int32(storage.ss_family) == AF_INET6 {
                let v6 = raw.loadUnaligned(as: sockaddr_in6.self)
                port = UInt16(bigEndian: v6.sin6_port)
                isIPv6 = true
                withUnsafeBytes(of: v6.sin6_addr) { take($0.baseAddress!) }
            } else {
                let v4 = raw.loadUnaligned(as: sockaddr_in.self)
                port = UInt16(bigEndian: v4.sin_port)
                withUnsafeMutableBytes(of: &high) { $0.storeBytes(of: v4.sin_addr.s_addr, as: UInt32.self) }
            }
        }
        unmap()
    }

    /// An IPv4-mapped address (RFC 4291, 2.5.5.2) becomes IPv4.
    private mutating func unmap() {
        guard isIPv6, high == 0 else { return }
        let all = bytes
        if all[8...11] == [0, 0, 0xFF, 0xFF] {
            isIPv6 = false
            high = 0
            withUnsafeMutableBytes(of: &high) { $0.copyBytes(from: all[12...]) }
            low = 0
        }
    }

    /// Calls `body` with the kernel's form of the address.
    func withKernelForm<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        var storage = sockaddr_storage()
        let length = withUnsafeMutableBytes(of: &storage) { raw -> Int in
            if isIPv6 {
                var v6 = sockaddr_in6()
                v6.sin6_family = sa_family_t(AF_INET6)
                v6.sin6_port = port.bigEndian
                withUnsafeMutableBytes(of: &v6.sin6_addr) { $0.copyBytes(from: bytes) }
                raw.storeBytes(of: v6, as: sockaddr_in6.self)
                return MemoryLayout<sockaddr_in6>.size
            }
            var v4 = sockaddr_in()
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &v4.sin_addr) { $0.copyBytes(from: bytes) }
            raw.storeBytes(of: v4, as: sockaddr_in.self)
            return MemoryLayout<sockaddr_in>.size
        }
        return withUnsafeBytes(of: storage) {
            body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(length))
        }
    }

    /// 4 or 16 bytes, network order.
    package var bytes: [UInt8] {
        withUnsafeBytes(of: (high, low)) { [UInt8]($0[0..<(isIPv6 ? 16 : 4)]) }
    }

    package var text: ByteString {
        var out = [UInt8](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        bytes.withUnsafeBytes { from in
            out.withUnsafeMutableBytes { to in
                let room = to.baseAddress!.assumingMemoryBound(to: CChar.self)
                _ = inet_ntop(isIPv6 ? AF_INET6 : AF_INET, from.baseAddress!, room, socklen_t(INET6_ADDRSTRLEN))
            }
        }
        return ByteString([UInt8](out.prefix { $0 != 0 }))
    }

    package var isLoopback: Bool {
        isIPv6 ? high == 0 && low == UInt64(1).bigEndian : withUnsafeBytes(of: high) { $0[0] == 127 }
    }
}
