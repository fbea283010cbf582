/// The one table of keys: the checks, `default-config`, `Config/parley.toml` and the documentation are made from it.
/// The defaults are the initial values of `Configuration`.
enum Schema {
    static let sections = [server, tls, store, history, guests, accounts, limits, networks, images, flood, cloak, log]

    private static let server = Section<Configuration>(
        name: "server", comment: "The server and how it presents itself.",
        keys: [
            .text(
                "name", \.server.name,
                """
                The server's name as IRC clients see it; it has a dot. Empty: the host name if that has one, \
                else parley.local.
                """,
                check: { $0.isEmpty ? nil : Checks.complaint(serverName: $0) }),
            .text(
                "network", \.server.network, "The network's name, one word.",
                check: { Checks.complaint(word: $0, limit: 32) }),
            .text(
                "description", \.server.description, "One line about the server, shown by WHOIS and LINKS.",
                check: { Checks.complaint(line: $0, limit: 100) }),
            .text(
                "motd", \.server.motd,
                """
                File with the message of the day. {server}, {network}, {users} and {version} are replaced. Empty: \
                the built-in text.
                """,
                check: Checks.complaint(path:)),
            .text(
                "password", \.server.password,
                "Password that every connection must give (PASS) before it may do anything. Empty: none.",
                check: { Checks.complaint(line: $0, limit: 300) }),
            .lines(
                "admin", \.server.admin,
                "At most three lines that answer ADMIN: where the server is, who runs it, how to reach them.",
                check: { lines in
                    if lines.count > 3 { return "\(lines.count) lines, at most 3 are allowed" }
                    return lines.lazy.compactMap { Checks.complaint(line: $0, limit: 300) }.first
                }),
            .text(
                "welcome-channel", \.server.welcomeChannel,
                "Channel that the greeting tells newcomers to join. Empty: none.",
                check: { $0.isEmpty ? nil : Checks.complaint(channel: $0) }),
            .text(
                "user-modes", \.server.userModes,
                "User modes that everybody has at first, such as \"i\" or \"iw\"; they may be taken off.",
                check: Checks.complaint(userModes:)),
            .boolean(
                "unicode-nicks", \.server.unicodeNicks, "Nicks may be of any script; with false of ASCII alone."),
            .lines(
                "trusted-proxies", \.server.trustedProxies,
                """
                Addresses and networks, "10.0.0.0/8", of proxies that may connect to listeners with proxy = true, and \
                whose X-Forwarded-For counts where websocket = true; their connections are not counted by address.
                """,
                check: Checks.complaint(networks:)),
            .lines(
                "websocket-origins", \.server.websocketOrigins,
                """
                Pages that may connect to listeners with websocket = true, "https://chat.example.org". Empty: all of \
                them.
                """,
                check: { $0.lazy.compactMap { Checks.complaint(word: $0, limit: 200) }.first }),
        ])

    private static let tls = Section<Configuration>(
        name: "tls",
        comment: """
            Files in PEM form, certificate chain and private key. Both empty: a self-signed certificate is made in \
            the data directory at the first start and its fingerprint is printed.
            """,
        keys: [
            .text(
                "certificate", \.tls.certificate, "File with the certificate and its chain.",
                check: Checks.complaint(path:)),
            .text("key", \.tls.key, "File with the private key.", check: Checks.complaint(path:)),
            .integer(
                "sts-port", \.tls.stsPort, 0...65_535,
                """
                TLS port that IRC clients of plain connections are sent to (IRCv3 STS). They must be able to verify \
                the certificate. 0: they are not sent anywhere.
                """),
            .duration(
                "sts-duration", \.tls.stsDuration, .zero ... .seconds(3650 * 86_400), unit: .seconds(86_400),
                """
                How long clients that were told the port come by TLS alone; integers are days. 0: they forget what \
                they were told before.
                """),
        ])

    private static let store = Section<Configuration>(
        name: "store", comment: "Where messages are kept.",
        keys: [
            .text(
                "path", \.store.path,
                """
                Database file; its directory is the data directory, where the server's secret and certificate are \
                kept as well. Empty: parley.db in $STATE_DIRECTORY, or in ./data without one.
                """,
                check: Checks.complaint(path:)),
            .choice(
                "durability", \.store.durability,
                """
                What a crash may cost: with full nothing that anybody has seen, with normal the last moments when \
                the machine loses power, with off possibly the database.
                """),
        ])

    private static let history = Section<Configuration>(
        name: "history", comment: "What people may read of what was said.",
        keys: [
            .integer("replay", \.history.replay, 0...1000, "Lines shown on JOIN."),
            .integer("page", \.history.page, 1...1000, "Most messages that one request for history returns."),
            .choice(
                "visibility", \.history.visibility,
                """
                What the members of a channel may read: all of its history, or what was \
                said since they first joined.
                """),
            .duration(
                "channel-expiry", \.history.channelExpiry, .zero ... .seconds(36_500 * 86_400), unit: .seconds(86_400),
                "A channel unused for this time is dropped with its history; integers are days. 0: never."),
            .duration(
                "edit-window", \.history.editWindow, .zero ... .seconds(36_500 * 86_400), unit: .seconds(1),
                "How long after saying something its author may change it (EDIT); integers are seconds. 0: always."),
            .duration(
                "redact-window", \.history.redactWindow, .zero ... .seconds(36_500 * 86_400), unit: .seconds(1),
                """
                How long its author may delete it (REDACT); channel operators always may. Integers are seconds. 0: \
                always.
                """),
            .duration(
                "retention-age", \.history.retentionAge, .zero ... .seconds(36_500 * 86_400), unit: .seconds(86_400),
                """
                How long what was said is kept; channel operators may keep less (RETENTION). Integers are days. 0: \
                for ever.
                """),
            .integer(
                "retention-count", \.history.retentionCount, 0...1_000_000,
                "How many of its newest messages a conversation keeps, about. 0: all."),
        ])

    private static let guests = Section<Configuration>(
        name: "guests", comment: "People without an account.",
        keys: [
            .text(
                "prefix", \.guests.prefix,
                "Start of the nicks made for guests; nobody may choose a nick that starts so.",
                check: { Checks.complaint(nickPrefix: $0) }),
            .boolean(
                "show-token", \.guests.showToken,
                "Tell guests after they come in the token that brings their identity back."),
            .integer("session-limit", \.guests.sessionLimit, 1...1000, "Most connections of one identity."),
            .duration(
                "nick-memory", \.guests.nickMemory, .zero ... .seconds(3650 * 86_400), unit: .seconds(86_400),
                """
                How long a message to the nick of a guest who left is kept for its return, unless \
                somebody else takes the nick; integers are days. 0: only messages to =<uid> are.
                """),
        ])

    private static let accounts = Section<Configuration>(
        name: "accounts", comment: "People who registered.",
        keys: [
            .boolean(
                "registration", \.accounts.registration, "Whether anybody may register; logging in stays possible."),
            .boolean(
                "before-connect", \.accounts.beforeConnect,
                "IRC clients may register before they have finished connecting."),
            .boolean("custom-names", \.accounts.customNames, "An account may be named other than its owner's nick."),
            .boolean("email-required", \.accounts.emailRequired, "Nobody registers without an e-mail address."),
            .integer("password-length", \.accounts.passwordLength, 1...200, "Bytes of the shortest password."),
            .integer(
                "registrations-per-hour", \.accounts.registrationsPerHour, 1...1_000_000,
                "Accounts that may be registered from one address in an hour."),
            .lines(
                "mail-command", \.accounts.mailCommand,
                """
                Program and arguments that send a message given on standard input: ["sendmail", "-i", "-t"]. With it \
                addresses are verified by a code, and a forgotten password is replaced by one. Empty: no mail is sent.
                """,
                check: Checks.complaint(command:)),
            .text(
                "mail-from", \.accounts.mailFrom,
                "Address that mail comes from. Empty: parley@ and the server's name.",
                check: { $0.isEmpty ? nil : Checks.complaint(email: $0) }),
            .duration(
                "code-lifetime", \.accounts.codeLifetime, .seconds(60) ... .seconds(30 * 86_400), unit: .seconds(1),
                "How long a code sent by mail is good."),
        ])

    private static let limits = Section<Configuration>(
        name: "limits", comment: "Limits; clients learn the ones that concern them (005). Lengths are bytes.",
        keys: [
            .integer("nick-length", \.limits.nickLength, 9...64, "Longest nick."),
            .integer("channel-length", \.limits.channelLength, 9...100, "Longest channel name."),
            .integer("topic-length", \.limits.topicLength, 50...390, "Longest topic."),
            .integer("kick-length", \.limits.kickLength, 50...390, "Longest reason of a KICK."),
            .integer("away-length", \.limits.awayLength, 50...390, "Longest AWAY text."),
            .integer("realname-length", \.limits.realnameLength, 10...150, "Longest display name."),
            .integer("key-length", \.limits.keyLength, 1...50, "Longest channel key."),
            .integer("channels-per-user", \.limits.channelsPerUser, 1...10_000, "Most channels that a user is in."),
            .integer(
                "list-entries", \.limits.listEntries, 1...10_000,
                "Most entries of a channel's ban, exception or invite list."),
            .integer("targets", \.limits.targets, 1...100, "Most targets of one PRIVMSG or NOTICE."),
            .integer("monitor", \.limits.monitor, 0...10_000, "Most nicks on one connection's MONITOR list."),
            .integer("whowas", \.limits.whowas, 0...1_000_000, "Departed users that WHOWAS remembers."),
            .size(
                "send-queue", \.limits.sendQueue, 64 << 10...1 << 30,
                "Most that waits for one connection to read; more and it is closed."),
            .integer(
                "connections", \.limits.connections, 0...10_000_000,
                "Most connections. 0: as many as the limit of open files allows."),
            .duration(
                "registration-seconds", \.limits.registration, .seconds(1) ... .seconds(3600), unit: .seconds(1),
                plain: true,
                "A connection that has not said who it is after this time is closed."),
            .duration(
                "ping-seconds", \.limits.ping, .seconds(5) ... .seconds(86_400), unit: .seconds(1), plain: true,
                """
                An IRC client that is silent for this time is sent a PING, and closed \
                when the time passes once more.
                """),
            .duration(
                "handshake-seconds", \.limits.handshake, .seconds(1) ... .seconds(600), unit: .seconds(1), plain: true,
                "Longest TLS handshake."),
            .duration(
                "list-delay", \.limits.listDelay, .zero ... .seconds(3600), unit: .seconds(1), plain: true,
                "A guest who is not yet here for this time gets no LIST. 0: everyone gets it at once."),
            .integer("metadata-keys", \.limits.metadataKeys, 0...1000, "Most metadata keys of a user or a channel."),
            .integer(
                "metadata-subscriptions", \.limits.metadataSubscriptions, 0...1000,
                "Most metadata keys that a connection subscribes to."),
        ])

    private static let networks = Section<Configuration>(
        name: "networks",
        comment: """
            Shares of whole networks, which are single addresses unless the prefixes say otherwise. This machine's own \
            connections are not counted, proxies and gateways neither; who comes through one counts for their own address.
            """,
        keys: [
            .integer("connections", \.networks.connections, 0...10_000_000, "Most connections at a time. 0: any."),
            .integer(
                "connects-per-minute", \.networks.connectsPerMinute, 0...1_000_000,
                "Most new connections in a minute, refused ones not counted. 0: any."),
            .integer("ipv4-prefix", \.networks.ipv4Prefix, 8...32, "Bits of an IPv4 address that make a network."),
            .integer("ipv6-prefix", \.networks.ipv6Prefix, 16...64, "Bits of an IPv6 address that make a network."),
            .lines(
                "exempt", \.networks.exempt, "Addresses and networks, \"10.0.0.0/8\", that have no limits here.",
                check: Checks.complaint(networks:)),
            .integer(
                "burst", \.networks.burst, 1...10_000_000,
                "Messages that all its connections together may send at once."),
            .number("rate", \.networks.rate, 0...1_000_000, "Messages a second after that. 0: any."),
        ])

    private static let images = Section<Configuration>(
        name: "images", comment: "Pictures that people send; they are files in images beside the database.",
        keys: [
            .boolean("enabled", \.images.enabled, "Whether pictures can be sent and fetched at all."),
            .lines(
                "types", \.images.types, "Which kinds are taken, of \(Checks.imageTypes).",
                check: Checks.complaint(imageTypes:)),
            .size("guest-size", \.images.guestSize, 1 << 10...64 << 20, "Largest picture of a guest."),
            .size("account-size", \.images.accountSize, 1 << 10...64 << 20, "Largest picture of an account."),
            .size("guest-daily", \.images.guestDaily, 1 << 10...1 << 40, "Most that a guest stores in a day."),
            .size("account-daily", \.images.accountDaily, 1 << 10...1 << 40, "Most that an account stores in a day."),
            .size("total", \.images.total, 1 << 20...1 << 50, "Most that all pictures take together."),
            .integer("megapixels", \.images.megapixels, 1...1000, "Most pixels of a picture, in millions."),
            .duration(
                "idle", \.images.idle, .seconds(60) ... .seconds(7 * 86_400), unit: .seconds(60),
                "An upload to which nothing comes for this time is removed; integers are minutes."),
        ])

    private static let flood = Section<Configuration>(
        name: "flood", comment: "A connection that sends too fast is slowed by not being read.",
        keys: [
            .boolean("enabled", \.flood.enabled, "Whether senders are slowed at all."),
            .integer("burst", \.flood.burst, 1...100_000, "Messages that may come at once."),
            .number("rate", \.flood.rate, 0.1...100_000, "Messages a second after that."),
        ])

    private static let cloak = Section<Configuration>(
        name: "cloak", comment: "Addresses of people.",
        keys: [.boolean("enabled", \.cloak.enabled, "Show others a hash in the place of the address.")])

    private static let log = Section<Configuration>(
        name: "log", comment: "The log, on standard error.",
        keys: [
            .choice("level", \.log.level, "What is logged: this and everything more important."),
            .choice("format", \.log.format, "Text for people, or one JSON object a line for programs."),
        ])

    static let listen = Section<Configuration.Listener>(
        name: "listen",
        comment: """
            Where to listen: an address of this machine, a port and what is spoken there, plain text, TLS, or both (a \
            connection that begins with a TLS hello gets TLS). One [[listen]] for each; the first one in a file \
            replaces all defaults. Use "0.0.0.0" and "::" to be reached from everywhere.
            """,
        keys: [
            .text(
                "address", \.address, "An IPv4 or IPv6 address, without brackets.", required: true,
                check: Checks.complaint(address:)),
            .integer("port", \.port, 0...65_535, "0: any free port, told in the log.", required: true),
            .choice("mode", \.mode, "What is spoken."),
            .boolean(
                "proxy", \.proxy,
                """
                Every connection begins with a PROXY header (version 1 or 2, before TLS) that says who it is; only \
                server.trusted-proxies may connect.
                """),
            .boolean("websocket", \.websocket, "Whether it is spoken over WebSocket (RFC 6455), as browsers do."),
        ])

    static let operators = Section<Configuration.Operator>(
        name: "operator",
        comment: """
            Who may use OPER, one [[operator]] for each; none by default. `parley hash-password` makes the hash. A \
            password in clear is possible as "plain:..." and draws a warning.
            """,
        keys: [
            .text(
                "name", \.name, "The name given to OPER.", required: true,
                check: { Checks.complaint(word: $0, limit: 32) }),
            .text(
                "password", \.password, "The hash as printed, $argon2id$...", required: true,
                check: Checks.complaint(operatorPassword:)),
            .text(
                "class", \.class, "What the operator may do: the name of an [[operator-class]], or admin, everything.",
                check: { Checks.complaint(word: $0, limit: 32) }),
        ])

    static let operatorClasses = Section<Configuration.OperatorClass>(
        name: "operator-class",
        comment: "Operators who may do some things only, one [[operator-class]] for each kind of them.",
        keys: [
            .text(
                "name", \.name, "The name that an operator's class gives.", required: true,
                check: { Checks.complaint(word: $0, limit: 32) }),
            .lines(
                "privileges", \.privileges, "Any of \(Checks.privileges).", required: true,
                check: Checks.complaint(privileges:)),
        ])

    static let gateways = Section<Configuration.Gateway>(
        name: "webirc",
        comment: """
            Web gateways that say by WEBIRC for whom they connect, one [[webirc]] for each; none by default. The \
            password is made and written as an operator's.
            """,
        keys: [
            .text(
                "name", \.name, "The gateway's name, as WEBIRC gives it.", required: true,
                check: { Checks.complaint(word: $0, limit: 32) }),
            .text(
                "password", \.password, "The hash as printed, $argon2id$...", required: true,
                check: Checks.complaint(operatorPassword:)),
            .lines(
                "hosts", \.hosts, "Addresses and networks that it connects from; they are not counted by address.",
                required: true,
                check: { $0.isEmpty ? "must not be empty" : Checks.complaint(networks: $0) }),
        ])
}
