import Bytes

/// Who may connect, by network: how many at a time and how many a minute. What is counted as one network is decided
/// here and nowhere else, so that those who come through a proxy or a gateway count as those who come themselves.
struct Admission: ~Copyable {
    private struct Entry {
        var connections = 0
        /// Thousandths of a connection that may come at once, as of `refilled`.
        var allowance: Int64
        var refilled: Int64
    }

    private var entries: [UInt64: Entry] = [:]

    /// False when the network has as many as it may, or they come too fast.
    mutating func admit(_ peer: PeerAddress, _ limits: NetLimits, now: Int64) -> Bool {
        let network = limits.network(of: peer)
        let full = Int64(limits.connectsPerMinute) * 1000
        if network == 0 || (limits.connectionsPerNetwork == 0 && full == 0) { return true }
        var entry = entries[network] ?? Entry(allowance: full, refilled: now)
        if limits.connectionsPerNetwork > 0, entry.connections >= limits.connectionsPerNetwork { return false }
        if full > 0 {
            entry.allowance = min(full, entry.allowance + (now - entry.refilled) * full / 60_000)
            entry.refilled = now
            if entry.allowance < 1000 { return false }
            entry.allowance -= 1000
        }
        entry.connections += 1
        entries[network] = entry
        if entries.count > 100_000 { forgetIdle(now) }
        return true
    }

    mutating func leave(_ peer: PeerAddress, _ limits: NetLimits) {
        let network = limits.network(of: peer)
        guard network != 0, var entry = entries[network] else { return }
        entry.connections = max(0, entry.connections - 1)
        entries[network] = entry.connections == 0 && limits.connectsPerMinute == 0 ? nil : entry
    }

    private mutating func forgetIdle(_ now: Int64) {
        entries = entries.filter { $0.value.connections > 0 || now - $0.value.refilled < 60_000 }
    }
}

extension NetLimits {
    /// The number of the network that an address counts for; 0: it is not counted. This machine's own are not, nor
    /// proxies and gateways, behind which there are many people.
    package func network(of peer: PeerAddress) -> UInt64 {
        if peer.isLoopback { return 0 }
        for ranges in [exemptions, trustedProxies, gateways] where ranges.contains(where: { $0.contains(peer) }) {
            return 0
        }
        if peer.isIPv6 {
            return UInt64(bigEndian: peer.high) & (.max << UInt64(64 - min(max(ipv6Prefix, 1), 64)))
        }
        let address = UInt64(bigEndian: peer.high) >> 32 & (.max << UInt64(32 - min(max(ipv4Prefix, 1), 32)))
        // As no IPv6 peer begins: ffff::/16 are groups.
        return 0xFFFF_FFFF_0000_0000 | address
    }
}
