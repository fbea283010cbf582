package import Bytes
package import Wire

/// A row of the command table: everything that is settled before the handler runs.
package struct Command: Sendable {
    package enum Access: Sendable {
        /// Part of coming in, by any manner.
        case opening
        /// QUIT: may be said at any time; after a person's NICK it completes the entry first, as any next command does
        /// but PING, which some clients send between NICK and USER.
        case anytime
        /// A person may ask it before having an identity; a client may not.
        case visitor
        case registered
        case operators
    }

    package let name: StaticString
    /// Fewer parameters are answered with 461.
    package let minimum: Int
    package let access: Access
    /// Which operators may use it, where `access` is `operators`; nil: all of them.
    package let privilege: Privilege?
    /// A client with one of these capabilities may send it before registration already; empty: none may.
    let early: Capabilities
    /// Flood cost in thousandths of a message.
    package let cost: Int64
    /// `HELP <command>`: how it is written, what it does, an example that can be typed; one line each.
    package let help: [StaticString]
    /// Where the command is specified.
    package let source: StaticString
    package let handle: @Sendable (inout World, Turn) -> Void

    package init(
        _ name: StaticString, minimum: Int = 0, access: Access = .registered, privilege: Privilege? = nil,
        early: Capabilities = [], cost: Int64 = 1000, source: StaticString, help: [StaticString],
        _ handle: @escaping @Sendable (inout World, Turn) -> Void
    ) {
        self.name = name
        self.minimum = minimum
        self.access = access
        self.privilege = privilege
        self.early = early
        self.cost = cost
        self.source = source
        self.help = help
        self.handle = handle
    }
}

/// All commands. A topic's rows stand in its folder; adding a command is its file, its row and its test.
package enum CommandTable {
    package static let rows: [Command] =
        registrationCommands + identityCommands + channelCommands + messageCommands + receiptCommands + changeCommands
        + historyCommands + imageCommands
        + presenceCommands + metadataCommands + queryCommands + operatorCommands

    private static let index: [NameKey: Int] = Dictionary(
        uniqueKeysWithValues: rows.enumerated().map { (NameKey(ByteView($1.name)), $0) })

    /// The number of the row of this name.
    package static func position(_ word: ByteView) -> Int? { word.count <= 16 ? index[NameKey(word)] : nil }

    package static func find(_ word: ByteView) -> Command? { position(word).map { rows[$0] } }

    package static let names: [StaticString] = rows.map(\.name)
}
