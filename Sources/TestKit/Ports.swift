package import Glibc
import Synchronization

/// Free TCP ports on the loopback address. They are taken below the range from which the kernel gives local ports to
/// outgoing connections, so that a client's own port can never stand in the way of a server that restarts.
package enum Ports {
    private static let taken = Mutex<Set<UInt16>>([])

    package static func free() -> UInt16 {
        while true {
            let port = UInt16.random(in: 10_000..<32_000)
            guard taken.withLock({ $0.insert(port).inserted }) else { continue }
            if isFree(port, AF_INET) && isFree(port, AF_INET6) { return port }
        }
    }

    private static func isFree(_ port: UInt16, _ family: Int32) -> Bool {
        let socket = Glibc.socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // A machine without IPv6 has nobody on its IPv6 ports.
        guard socket >= 0 else { return family == AF_INET6 }
        defer { close(socket) }
        return SocketAddress.loopback(family, port).withPointer { bind(socket, $0, $1) == 0 }
    }
}

/// A loopback address as the socket calls want it.
package struct SocketAddress {
    private var storage = sockaddr_storage()
    private let length: socklen_t

    package static func loopback(_ family: Int32 = AF_INET, _ port: UInt16) -> SocketAddress {
        family == AF_INET6 ? SocketAddress(ipv6: port) : SocketAddress(ipv4: port)
    }

    /// With any port.
    package static func ipv4(_ text: String) -> SocketAddress {
        var address = SocketAddress(ipv4: 0)
        withUnsafeMutableBytes(of: &address.storage) { room in
            var own = room.load(as: sockaddr_in.self)
            _ = inet_pton(AF_INET, text, &own.sin_addr)
            room.storeBytes(of: own, as: sockaddr_in.self)
        }
        return address
    }

    private init(ipv4 port: UInt16) {
        length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &storage) {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            $0.storeBytes(of: address, as: sockaddr_in.self)
        }
    }

    private init(ipv6 port: UInt16) {
        length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        withUnsafeMutableBytes(of: &storage) {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            $0.storeBytes(of: address, as: sockaddr_in6.self)
        }
    }

    package func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
