import Bytes
package import Chat
package import Net

/// A configuration in the words of the rooms that follow it.
extension Configuration {
    /// What the core decides by. `started` is milliseconds since 1970.
    package func settings(_ places: Places, motd: Motd, started: Int64) -> Settings {
        var settings = Settings()
        settings.serverName = ByteString(places.serverName)
        settings.network = ByteString(server.network)
        settings.description = ByteString(server.description)
        settings.version = "parley-\(Version.string)"
        settings.started = started
        settings.motd = motd.lines
        settings.password = ByteString(server.password)
        settings.admin = server.admin.map { ByteString($0) }
        settings.welcomeChannel = ByteString(server.welcomeChannel)
        settings.limits = coreLimits
        settings.flood.enabled = flood.enabled
        settings.flood.burst = flood.burst
        settings.flood.rate = flood.rate
        settings.guestPrefix = ByteString(guests.prefix)
        settings.showGuestToken = guests.showToken
        settings.replay = history.replay
        settings.page = history.page
        settings.historySinceJoin = history.visibility == .joined
        settings.operators = operators.map {
            OperatorSettings(
                name: ByteString($0.name), hash: ByteString($0.password), kind: ByteString($0.class.rawValue))
        }
        return settings
    }

    private var coreLimits: Chat.Limits {
        var core = Chat.Limits()
        core.nickLength = limits.nickLength
        core.channelLength = limits.channelLength
        core.topicLength = limits.topicLength
        core.kickLength = limits.kickLength
        core.awayLength = limits.awayLength
        core.realnameLength = limits.realnameLength
        core.keyLength = limits.keyLength
        core.channelsPerUser = limits.channelsPerUser
        core.listEntries = limits.listEntries
        core.targets = limits.targets
        core.whowas = limits.whowas
        core.registrationTimeout = limits.registration.milliseconds
        core.pingInterval = limits.ping.milliseconds
        core.sessionsPerIdentity = guests.sessionLimit
        return core
    }

    /// `descriptorLimit`: open files the process may have; some are kept for the database, logs and readers.
    package func netLimits(descriptorLimit: Int) -> NetLimits {
        var net = NetLimits()
        net.sendQueueBytes = limits.sendQueue
        net.handshakeTimeoutMs = Int(limits.handshake.milliseconds)
        net.connectionsPerAddress = limits.connectionsPerAddress
        let possible = max(1, descriptorLimit - Self.otherDescriptors)
        net.maximumConnections = limits.connections == 0 ? possible : min(limits.connections, possible)
        return net
    }

    /// Database, journal, readers, log, listeners, wakers, and some to spare.
    private static let otherDescriptors = 64

    package var listenerSpecs: [ListenerSpec] {
        listeners.map { listener in
            let mode: ListenerMode =
                switch listener.mode {
                case .plain: .plain
                case .tls: .tls
                case .both: .both
                }
            return ListenerSpec(address: listener.address, port: UInt16(listener.port), mode: mode)
        }
    }
}
