/// Everything an operator can set. The values here are the defaults, so the server runs without a file; meaning, unit
/// and range of each stand in `ConfigurationSchema.swift`. A value is never changed while it is used: a reload makes
/// another.
package struct Configuration: Sendable, Equatable {
    package var server = Server()
    package var listeners = Listener.defaults
    package var tls = TLS()
    package var store = Store()
    package var history = History()
    package var guests = Guests()
    package var accounts = Accounts()
    package var limits = Limits()
    package var networks = Networks()
    package var flood = Flood()
    package var images = Images()
    package var cloak = Cloak()
    package var log = LogSettings()
    package var operators: [Operator] = []
    package var operatorClasses: [OperatorClass] = []
    package var gateways: [Gateway] = []

    package init() {}

    /// Nobody chose these addresses, so one that the host does not have (::1 without IPv6) is skipped with a warning.
    package var hasDefaultListeners: Bool { listeners == Listener.defaults }

    package struct Server: Sendable, Equatable {
        /// Empty: the host name; see `Places.serverName`.
        package var name = ""
        package var network = "Parley"
        package var description = "A place to talk"
        /// Empty: the built-in text.
        package var motd = ""
        /// Empty: none is asked for.
        package var password = ""
        /// At most three lines; empty: 423 answers ADMIN.
        package var admin: [String] = []
        /// Empty: none.
        package var welcomeChannel = "#lobby"
        /// Letters of modes that users set themselves.
        package var userModes = ""
        package var unicodeNicks = true
        /// Networks, `10.0.0.0/8`, or addresses.
        package var trustedProxies: [String] = []
        /// Empty: all of them.
        package var websocketOrigins: [String] = []
    }

    package struct Listener: Sendable, Equatable {
        package enum Mode: String, Sendable, CaseIterable { case plain, tls, both }

        /// A literal IPv4 or IPv6 address, without brackets.
        package var address = ""
        /// 0: any free one.
        package var port = 0
        package var mode = Mode.plain
        package var proxy = false
        package var websocket = false

        package init() {}

        package init(address: String, port: Int, mode: Mode) {
            self.address = address
            self.port = port
            self.mode = mode
        }

        package static let defaults = [
            Listener(address: "127.0.0.1", port: 6667, mode: .plain),
            Listener(address: "::1", port: 6667, mode: .plain),
            Listener(address: "127.0.0.1", port: 6697, mode: .tls),
            Listener(address: "::1", port: 6697, mode: .tls),
        ]
    }

    package struct TLS: Sendable, Equatable {
        /// Both empty: made at the first start; see `Places`.
        package var certificate = ""
        package var key = ""
        /// 0: no STS.
        package var stsPort = 0
        package var stsDuration = Duration.zero
    }

    package struct Store: Sendable, Equatable {
        package enum Durability: String, Sendable, CaseIterable { case full, normal, off }

        /// Empty: `parley.db` in the data directory; see `Places`.
        package var path = ""
        package var durability = Durability.full
    }

    package struct History: Sendable, Equatable {
        package enum Visibility: String, Sendable, CaseIterable { case all, joined }

        package var replay = 50
        package var page = 100
        package var visibility = Visibility.all
        /// Zero: never.
        package var channelExpiry = Duration.seconds(90 * 86_400)
        /// Zero: always.
        package var editWindow = Duration.seconds(86_400)
        package var redactWindow = Duration.zero
        /// Zero: for ever, and any number.
        package var retentionAge = Duration.zero
        package var retentionCount = 0
    }

    package struct Guests: Sendable, Equatable {
        /// Behind the prefix of a made-up nick (`guest-` and five letters).
        package static let generatedLetters = 5

        package var prefix = "guest-"
        package var showToken = true
        package var sessionLimit = 10
        package var nickMemory = Duration.seconds(7 * 86_400)
    }

    package struct Accounts: Sendable, Equatable {
        package var registration = true
        package var beforeConnect = true
        package var customNames = true
        package var emailRequired = false
        package var passwordLength = 8
        package var registrationsPerHour = 10
        /// Program and arguments; empty: none.
        package var mailCommand: [String] = []
        /// Empty: `parley@` and the server's name.
        package var mailFrom = ""
        package var codeLifetime = Duration.seconds(86_400)
    }

    package struct Limits: Sendable, Equatable {
        package var nickLength = 32
        package var channelLength = 64
        package var topicLength = 390
        package var kickLength = 390
        package var awayLength = 200
        package var realnameLength = 150
        package var keyLength = 23
        package var channelsPerUser = 50
        package var listEntries = 100
        package var targets = 4
        package var monitor = 100
        package var whowas = 500
        /// Bytes.
        package var sendQueue = 1 << 20
        /// 0: what the descriptor limit allows.
        package var connections = 0
        package var registration = Duration.seconds(60)
        package var ping = Duration.seconds(120)
        package var handshake = Duration.seconds(10)
        package var listDelay = Duration.zero
        package var metadataKeys = 25
        package var metadataSubscriptions = 100
    }

    /// Of whole networks; this machine's own connections are not counted.
    package struct Networks: Sendable, Equatable {
        package var connections = 64
        /// 0: not counted.
        package var connectsPerMinute = 120
        package var ipv4Prefix = 32
        package var ipv6Prefix = 64
        /// Networks, `10.0.0.0/8`, or addresses.
        package var exempt: [String] = []
        /// Messages.
        package var burst = 300
        /// Messages a second; 0: not counted.
        package var rate = 100.0
    }

    package struct Flood: Sendable, Equatable {
        package var enabled = true
        /// Messages.
        package var burst = 30
        /// Messages a second.
        package var rate = 10.0
    }

    package struct Images: Sendable, Equatable {
        package var enabled = true
        /// Names of `ImageType`.
        package var types = ["image/jpeg", "image/png", "image/gif", "image/webp"]
        /// Bytes.
        package var guestSize = 5 << 20
        package var accountSize = 20 << 20
        package var guestDaily = 50 << 20
        package var accountDaily = 500 << 20
        package var total = 10 << 30
        package var megapixels = 40
        package var idle = Duration.seconds(3600)
    }

    package struct Cloak: Sendable, Equatable {
        package var enabled = true
    }

    package struct LogSettings: Sendable, Equatable {
        package var level = Log.Level.info
        package var format = Log.Format.text

        package init() {}
    }

    package struct Operator: Sendable, Equatable {
        package var name = ""
        /// `$argon2id$…`, or `plain:` and the password itself; `Hasher` takes both.
        package var password = ""
        /// A name of `operatorClasses`, or the built-in one that may everything.
        package var `class` = "admin"

        package init() {}
    }

    package struct OperatorClass: Sendable, Equatable {
        package var name = ""
        /// Raw values of `Privilege`.
        package var privileges: [String] = []

        package init() {}
    }
}

extension Configuration {
    /// Who connects for others, by WEBIRC.
    package struct Gateway: Sendable, Equatable {
        package var name = ""
        /// As an operator's.
        package var password = ""
        /// Networks, `10.0.0.0/8`, or addresses.
        package var hosts: [String] = []

        package init() {}
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
