import Bytes
package import Chat

extension Settings {
    /// What the chat core needs of the configuration.
    package init(_ configuration: Configuration, serverName: String, motd: Motd, started: Int64) {
        self.init()
        self.serverName = ByteString(serverName)
        network = ByteString(configuration.server.network)
        description = ByteString(configuration.server.description)
        version = ByteString("parley-\(Version.string)")
        self.started = started
        self.motd = motd.lines
        password = ByteString(configuration.server.password)
        admin = configuration.server.admin.map { ByteString($0) }
        welcomeChannel = ByteString(configuration.server.welcomeChannel)
        limits = Limits(configuration)
        images = ImageSettings(configuration.images)
        flood.enabled = configuration.flood.enabled
        flood.burst = configuration.flood.burst
        flood.rate = configuration.flood.rate
        flood.networkBurst = configuration.networks.burst
        flood.networkRate = configuration.networks.rate
        userModes = UserModes(settable: configuration.server.userModes) ?? []
        guestPrefix = ByteString(configuration.guests.prefix)
        allowsUnicodeNicks = configuration.server.unicodeNicks
        showGuestToken = configuration.guests.showToken
        nickMemory = configuration.guests.nickMemory.milliseconds
        accounts = AccountSettings(configuration.accounts)
        replay = configuration.history.replay
        channelExpiry = configuration.history.channelExpiry.milliseconds
        editWindow = configuration.history.editWindow.milliseconds
        redactWindow = configuration.history.redactWindow.milliseconds
        page = configuration.history.page
        retention = Retention(configuration.history)
        stsPort = configuration.tls.stsPort
        stsDuration = configuration.tls.stsDuration.milliseconds / 1000
        historySinceJoin = configuration.history.visibility == .joined
        gateways = configuration.gateways.map {
            GatewaySettings(
                name: ByteString($0.name), hash: ByteString($0.password), hosts: $0.hosts.map { ByteString($0) })
        }
        operators = configuration.operators.map {
            OperatorSettings(
                name: ByteString($0.name), hash: ByteString($0.password), kind: ByteString($0.class))
        }
        for item in configuration.operatorClasses {
            operatorClasses[ByteString(item.name)] = Set(item.privileges.compactMap(Privilege.init))
        }
    }
}

extension AccountSettings {
    fileprivate init(_ accounts: Configuration.Accounts) {
        self.init()
        isOpen = accounts.registration
        beforeConnect = accounts.beforeConnect
        customNames = accounts.customNames
        needsEmail = accounts.emailRequired
        hasMail = !accounts.mailCommand.isEmpty
        passwordLength = accounts.passwordLength
        registrationsPerHour = accounts.registrationsPerHour
        codeLifetime = accounts.codeLifetime.milliseconds
    }
}

extension ImageSettings {
    fileprivate init(_ images: Configuration.Images) {
        self.init()
        isEnabled = images.enabled
        types = images.types.compactMap { name in ByteString(name).withView { ImageType($0) } }
        guestSize = images.guestSize
        accountSize = images.accountSize
        guestDaily = images.guestDaily
        accountDaily = images.accountDaily
        total = images.total
        megapixels = images.megapixels
        idle = images.idle.milliseconds
    }
}

extension Limits {
    fileprivate init(_ configuration: Configuration) {
        self.init()
        let limits = configuration.limits
        nickLength = limits.nickLength
        channelLength = limits.channelLength
        topicLength = limits.topicLength
        kickLength = limits.kickLength
        awayLength = limits.awayLength
        realnameLength = limits.realnameLength
        keyLength = limits.keyLength
        channelsPerUser = limits.channelsPerUser
        listEntries = limits.listEntries
        targets = limits.targets
        monitor = limits.monitor
        whowas = limits.whowas
        registrationTimeout = limits.registration.milliseconds
        pingInterval = limits.ping.milliseconds
        listDelay = limits.listDelay.milliseconds
        metadataKeys = limits.metadataKeys
        metadataSubscriptions = limits.metadataSubscriptions
        sessionsPerIdentity = configuration.guests.sessionLimit
    }
}

extension Retention {
    init(_ history: Configuration.History) {
        self.init(age: history.retentionAge.milliseconds / 1000, count: Int64(history.retentionCount))
    }
}
