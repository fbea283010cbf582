package import Bytes
import Wire

/// Every limit of the chat core, in one place; what concerns clients is told in 005 (`ISupport.swift`).
package struct Limits: Sendable, Equatable {
    package var nickLength = 32
    package var channelLength = 64
    package var topicLength = 390
    package var kickLength = 390
    package var awayLength = 200
    package var realnameLength = 150
    package var keyLength = 23
    /// Channels one user may be in.
    package var channelsPerUser = 50
    /// Entries in each list `b`, `e`, `I` of a channel.
    package var listEntries = 100
    /// Targets of one PRIVMSG, NOTICE, KICK and so on.
    package var targets = 4
    /// Nicks on one connection's MONITOR list.
    package var monitor = 100
    /// Whom one user has accepted.
    package var accepted = 100
    package var whowas = 500
    /// Replies to a WHO that is no channel's.
    package var whoMatches = 500
    /// Mode changes with a parameter in one MODE.
    package var modes = 6
    /// Milliseconds a connection may stay silent before it has an identity.
    package var registrationTimeout: Int64 = 60_000
    /// Milliseconds of silence after which an IRC client is pinged, and then has again this long to answer.
    package var pingInterval: Int64 = 120_000
    /// Milliseconds after `NICK` alone until a plain session is complete.
    package var plainDelay: Int64 = 200
    /// Milliseconds after connecting until somebody who says nothing is greeted.
    package var greetDelay: Int64 = 400
    /// Sessions of one identity at a time.
    package var sessionsPerIdentity = 10
    /// Failed PASS, SASL and RESUME attempts per address within a minute before more are refused unheard.
    package var failedAttempts = 10
    /// Certificates of one account.
    package var certificates = 10
    /// Bytes and lines of one multiline message.
    package var multilineBytes = 4096
    package var multilineLines = 32
    /// Milliseconds after its last line until a batch that a client left open is broken off.
    package var batchTimeout: Int64 = 30_000
    /// Conversations in which an identity has a mark of how far it has read; the oldest gives way.
    package var readMarks = 1_000
    /// Direct messages that are delivered on return; the newest ones.
    package var missed = 500
    /// People who may be searching at the same time, and searches of one of them.
    package var searches = 32
    package var searchesPerIdentity = 2
    /// Who left last and is still found by nick.
    package static let departed = 10_000
    /// Milliseconds that guests are here before LIST answers them; 0: at once.
    package var listDelay: Int64 = 0
    /// Keys of a user or a channel, and keys that a connection may subscribe to.
    package var metadataKeys = 25
    package var metadataSubscriptions = 100
    /// A key and a value with the longest names fit in a line.
    package var metadataKeyBytes = 64
    package var metadataValueBytes = 256
    /// Changes of metadata at once, and milliseconds until one more.
    package var metadataBurst = 20
    package var metadataInterval: Int64 = 3000
    /// Values told unasked, as with a JOIN; where there are more the client asks by METADATA SYNC.
    package var metadataUnasked = 200
    /// Values in one answer to METADATA SYNC, give or take a user's.
    package var metadataPage = 500

    package init() {}
}

/// Pictures. Sizes are bytes.
package struct ImageSettings: Sendable, Equatable {
    package var isEnabled = true
    package var types = ImageType.allCases
    /// The largest picture of a guest and of an account.
    package var guestSize = 5 << 20
    package var accountSize = 20 << 20
    /// What they may store within a day.
    package var guestDaily = 50 << 20
    package var accountDaily = 500 << 20
    /// All pictures of the server together.
    package var total = 10 << 30
    package var megapixels = 40
    /// Milliseconds that an upload to which nothing comes is kept.
    package var idle: Int64 = 3_600_000
    /// Uploads at a time.
    package var perConnection = 2
    package var perIdentity = 4
    package var perServer = 1000
    /// Of a line, to clients that ask for longer ones than a message has room for, and to others.
    package var chunk = 4500
    package var plainChunk = 351
    /// What may come before it is on the disk, and how often that is told.
    package var window = 64 << 10
    package var every = 16 << 10
    /// What is sent at once of a picture.
    package var piece = 16 << 10
    /// Pictures that one connection may have asked for and not got yet.
    package var transfers = 8
    /// Pictures in one answer to LIST.
    package var listed = 100
    package var nameBytes = 64
    package var captionBytes = 300
    package var referenceBytes = 64

    package init() {}
}

/// Flood control: a bucket of `burst` messages that refills at `rate` a second; below zero the client is not read.
package struct FloodSettings: Sendable, Equatable {
    package var enabled = true
    package var burst = 30
    package var rate = 10.0
    /// The same for all connections of a network together; 0: it is not counted.
    package var networkBurst = 300
    package var networkRate = 100.0

    package init() {}
}

package struct OperatorSettings: Sendable, Equatable {
    package var name: ByteString
    /// `$argon2id$…`
    package var hash: ByteString
    /// A key of `Settings.operatorClasses`, or `Privilege.fullClass`.
    package var kind: ByteString

    package init(name: ByteString, hash: ByteString, kind: ByteString = Privilege.fullClass) {
        self.name = name
        self.hash = hash
        self.kind = kind
    }
}

/// Who may say by WEBIRC for whom it connects.
package struct GatewaySettings: Sendable, Equatable {
    package var name: ByteString
    /// As an operator's.
    package var hash: ByteString
    /// Networks that it connects from, as `Ports.isWithin` takes them.
    package var hosts: [ByteString]

    package init(name: ByteString, hash: ByteString, hosts: [ByteString]) {
        self.name = name
        self.hash = hash
        self.hosts = hosts
    }
}

/// Who may register what (IRCv3 account-registration).
package struct AccountSettings: Sendable, Equatable {
    /// False: nobody registers; who has an account may log in.
    package var isOpen = true
    package var beforeConnect = true
    package var customNames = true
    package var needsEmail = false
    /// Whether mail can be sent; without it no address is verified.
    package var hasMail = false
    /// Bytes of the shortest password.
    package var passwordLength = 8
    /// Accounts that one address may register in an hour.
    package var registrationsPerHour = 10
    /// Milliseconds for which a code sent by mail is good.
    package var codeLifetime: Int64 = 86_400_000

    package init() {}
}

/// What the operator decides, as one immutable value; a reload is an event that carries the next one.
package struct Settings: Sendable {
    package var serverName: ByteString = "parley.local"
    package var network: ByteString = "Parley"
    package var description: ByteString = "Parley chat server"
    package var version: ByteString = "parley"
    /// Milliseconds since 1970 when the process started.
    package var started: Int64 = 0
    package var motd: [ByteString] = []
    /// Empty: none.
    package var password: ByteString = ""
    package var admin: [ByteString] = []
    package var welcomeChannel: ByteString = "#lobby"
    package var limits = Limits()
    package var flood = FloodSettings()
    package var images = ImageSettings()
    package var guestPrefix: ByteString = "guest-"
    package var allowsUnicodeNicks = true
    package var showGuestToken = true
    /// Milliseconds for which who left is found by the nick it had.
    package var nickMemory: Int64 = 7 * 86_400_000
    /// Lines replayed on JOIN.
    package var replay = 50
    /// Lines a history page may have.
    package var page = 100
    /// What is kept of every conversation.
    package var retention = Retention()
    /// Milliseconds after which a channel that nobody is in is dropped with its history; 0: never.
    package var channelExpiry: Int64 = 0
    /// `history-visibility`: false is `all`, true is `joined`.
    package var historySinceJoin = false
    /// Milliseconds in which authors may change what they said; 0: always.
    package var editWindow: Int64 = 86_400_000
    package var redactWindow: Int64 = 0
    package var operators: [OperatorSettings] = []
    /// What the operators of each class may do, besides `Privilege.fullClass`, which may everything.
    package var operatorClasses: [ByteString: Set<Privilege>] = [:]
    /// The TLS port that clients of plain connections are sent to (IRCv3 sts); 0: they are not.
    package var stsPort = 0
    /// Seconds for which clients then come by TLS alone.
    package var stsDuration: Int64 = 0
    package var gateways: [GatewaySettings] = []
    package var accounts = AccountSettings()
    /// What everybody has at first.
    package var userModes: UserModes = []

    package init() {}
}

/// What World may ask of the outside at once: pure functions, given at start.
package struct Ports: Sendable {
    /// HMAC-SHA256 under the server's secret; 32 bytes.
    package var mac: @Sendable ([UInt8]) -> [UInt8]
    package var digest: Digest
    /// What a name looks like: two names with the same skeleton are taken for each other by people (UTS #39).
    package var skeleton: @Sendable (ByteView) -> ByteString
    /// Who connects from an address given as text: canonical, with the host that is shown for it, without TLS. nil: not
    /// an IP address.
    package var peer: @Sendable (ByteString) -> Peer?
    /// Whether an address lies in one of these networks (`10.0.0.0/8`).
    package var isWithin: @Sendable (ByteString, [ByteString]) -> Bool
    /// Seeds the generator of uids, guest nicks and batch references. None of these is a secret.
    package var seed: UInt64

    package init(
        mac: @escaping @Sendable ([UInt8]) -> [UInt8], digest: Digest,
        skeleton: @escaping @Sendable (ByteView) -> ByteString,
        peer: @escaping @Sendable (ByteString) -> Peer?,
        isWithin: @escaping @Sendable (ByteString, [ByteString]) -> Bool, seed: UInt64
    ) {
        self.mac = mac
        self.digest = digest
        self.skeleton = skeleton
        self.peer = peer
        self.isWithin = isWithin
        self.seed = seed
    }
}

/// SHA-256 and its HMAC under a given key: what SCRAM is made of.
package struct Digest: Sendable {
    package var sha256: @Sendable ([UInt8]) -> [UInt8]
    package var hmac: @Sendable (_ key: [UInt8], [UInt8]) -> [UInt8]

    package init(
        sha256: @escaping @Sendable ([UInt8]) -> [UInt8], hmac: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8]
    ) {
        self.sha256 = sha256
        self.hmac = hmac
    }
}

/// SplitMix64: numbers that need only be different, never secret.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
