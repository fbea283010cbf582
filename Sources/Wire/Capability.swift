package import Bytes

/// IRCv3 capabilities: what is on offer, and what a session asked for.
package struct Capabilities: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64

    @inlinable
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    @inlinable package static var messageTags: Capabilities { Capabilities(rawValue: 1 << 0) }
    @inlinable package static var serverTime: Capabilities { Capabilities(rawValue: 1 << 1) }
    @inlinable package static var batch: Capabilities { Capabilities(rawValue: 1 << 2) }
    @inlinable package static var echoMessage: Capabilities { Capabilities(rawValue: 1 << 3) }
    @inlinable package static var labeledResponse: Capabilities { Capabilities(rawValue: 1 << 4) }
    @inlinable package static var standardReplies: Capabilities { Capabilities(rawValue: 1 << 5) }
    @inlinable package static var multiPrefix: Capabilities { Capabilities(rawValue: 1 << 6) }
    @inlinable package static var extendedJoin: Capabilities { Capabilities(rawValue: 1 << 7) }
    @inlinable package static var awayNotify: Capabilities { Capabilities(rawValue: 1 << 8) }
    @inlinable package static var setname: Capabilities { Capabilities(rawValue: 1 << 9) }
    @inlinable package static var userhostInNames: Capabilities { Capabilities(rawValue: 1 << 10) }
    @inlinable package static var capNotify: Capabilities { Capabilities(rawValue: 1 << 11) }
    @inlinable package static var sasl: Capabilities { Capabilities(rawValue: 1 << 12) }
    @inlinable package static var accountTag: Capabilities { Capabilities(rawValue: 1 << 13) }
    @inlinable package static var accountNotify: Capabilities { Capabilities(rawValue: 1 << 14) }
    @inlinable package static var chghost: Capabilities { Capabilities(rawValue: 1 << 15) }
    @inlinable package static var inviteNotify: Capabilities { Capabilities(rawValue: 1 << 16) }
    @inlinable package static var chathistory: Capabilities { Capabilities(rawValue: 1 << 17) }
    @inlinable package static var eventPlayback: Capabilities { Capabilities(rawValue: 1 << 18) }
    @inlinable package static var uid: Capabilities { Capabilities(rawValue: 1 << 19) }
    @inlinable package static var extendedMonitor: Capabilities { Capabilities(rawValue: 1 << 20) }
    @inlinable package static var noImplicitNames: Capabilities { Capabilities(rawValue: 1 << 21) }
    @inlinable package static var extendedISupport: Capabilities { Capabilities(rawValue: 1 << 22) }
    @inlinable package static var preAway: Capabilities { Capabilities(rawValue: 1 << 23) }
    @inlinable package static var metadata: Capabilities { Capabilities(rawValue: 1 << 24) }
    /// The same extension as it changes in discussion: what differs is told by numerics.
    @inlinable package static var metadata3: Capabilities { Capabilities(rawValue: 1 << 25) }
    @inlinable package static var readMarker: Capabilities { Capabilities(rawValue: 1 << 26) }
    /// The tags of a message that is a picture.
    @inlinable package static var images: Capabilities { Capabilities(rawValue: 1 << 45) }
    @inlinable package static var multiline: Capabilities { Capabilities(rawValue: 1 << 30) }
    @inlinable package static var channelRename: Capabilities { Capabilities(rawValue: 1 << 31) }
    @inlinable package static var messageRedaction: Capabilities { Capabilities(rawValue: 1 << 32) }
    @inlinable package static var messageEdit: Capabilities { Capabilities(rawValue: 1 << 33) }
    @inlinable package static var idempotent: Capabilities { Capabilities(rawValue: 1 << 34) }
    @inlinable package static var receipts: Capabilities { Capabilities(rawValue: 1 << 35) }
    @inlinable package static var channels: Capabilities { Capabilities(rawValue: 1 << 36) }
    @inlinable package static var search: Capabilities { Capabilities(rawValue: 1 << 38) }

    /// Who said by RELAYMSG what somebody of another network said.
    @inlinable package static var relaymsg: Capabilities { Capabilities(rawValue: 1 << 37) }
    @inlinable package static var accountRegistration: Capabilities { Capabilities(rawValue: 1 << 40) }

    /// Everything on offer.
    package static let all = Capabilities(table.map(\.bit))

    /// What is on offer, in the order of CAP LS.
    package static let table: [CapabilityRow] = [
        CapabilityRow("message-tags", .messageTags),
        CapabilityRow("server-time", .serverTime),
        CapabilityRow("batch", .batch),
        CapabilityRow("echo-message", .echoMessage),
        CapabilityRow("labeled-response", .labeledResponse),
        CapabilityRow("standard-replies", .standardReplies),
        CapabilityRow("multi-prefix", .multiPrefix),
        CapabilityRow("extended-join", .extendedJoin),
        CapabilityRow("away-notify", .awayNotify),
        CapabilityRow("setname", .setname),
        CapabilityRow("userhost-in-names", .userhostInNames),
        CapabilityRow("cap-notify", .capNotify),
        CapabilityRow("sasl", .sasl),
        CapabilityRow("account-tag", .accountTag),
        CapabilityRow("account-notify", .accountNotify),
        CapabilityRow("draft/account-registration", .accountRegistration),
        CapabilityRow("invite-notify", .inviteNotify),
        CapabilityRow("extended-monitor", .extendedMonitor),
        CapabilityRow("no-implicit-names", .noImplicitNames),
        CapabilityRow("draft/extended-isupport", .extendedISupport),
        CapabilityRow("draft/pre-away", .preAway),
        CapabilityRow("draft/chathistory", .chathistory),
        CapabilityRow("draft/event-playback", .eventPlayback),
        CapabilityRow("draft/read-marker", .readMarker),
        CapabilityRow("draft/multiline", .multiline),
        CapabilityRow("draft/channel-rename", .channelRename),
        CapabilityRow("draft/relaymsg", .relaymsg, value: "/"),
        CapabilityRow("draft/metadata-2", .metadata),
        CapabilityRow("draft/metadata-3", .metadata3),
        CapabilityRow("draft/message-redaction", .messageRedaction),
        CapabilityRow("parley.chat/uid", .uid),
        CapabilityRow("parley.chat/message-edit", .messageEdit),
        CapabilityRow("parley.chat/idempotent", .idempotent, value: "max-length=64,seconds=86400"),
        CapabilityRow("parley.chat/receipts", .receipts),
        CapabilityRow("parley.chat/channels", .channels),
        CapabilityRow("parley.chat/img", .images),
        CapabilityRow("soju.im/search", .search),
    ]

    /// The capability of this name, if it is on offer. Names are case-sensitive (IRCv3 capability negotiation).
    package static func named(_ name: ByteView) -> Capabilities? { table.first { name == $0.name }?.bit }

    /// The names in `set`, space-separated; with their values, as CAP LS 302 has them, if `values`.
    package static func list(_ set: Capabilities, values: Bool) -> ByteString {
        var names: [UInt8] = []
        for row in table where set.contains(row.bit) {
            if !names.isEmpty { names.append(0x20) }
            names.append(contentsOf: ByteView(row.name).raw)
            guard values, let value = row.value else { continue }
            names.append(0x3D)
            names.append(contentsOf: ByteView(value).raw)
        }
        return ByteString(names)
    }
}

package struct CapabilityRow: Sendable {
    package let name: StaticString
    package let bit: Capabilities
    /// Told to clients of CAP LS 302.
    package let value: StaticString?

    init(_ name: StaticString, _ bit: Capabilities, value: StaticString? = nil) {
        self.name = name
        self.bit = bit
        self.value = value
    }
}

/// The list of a `CAP REQ`: names to enable and, with `-`, to disable. It is granted or refused as a whole.
package struct CapabilityRequest: Sendable, Equatable {
    package private(set) var enable: Capabilities = []
    package private(set) var disable: Capabilities = []

    /// nil: a name is not on offer (NAK). Where a name comes twice, the last one counts.
    package init?(parsing list: ByteView) {
        for word in list.parts(0x20) {
            let isRemoval = word.first == 0x2D
            guard let bit = Capabilities.named(isRemoval ? word.dropFirst() : word) else { return nil }
            enable.subtract(bit)
            disable.subtract(bit)
            if isRemoval { disable.formUnion(bit) } else { enable.formUnion(bit) }
        }
    }

    package func applied(to present: Capabilities) -> Capabilities { present.union(enable).subtracting(disable) }
}
