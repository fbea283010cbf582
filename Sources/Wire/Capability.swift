package import Bytes

/// IRCv3 capabilities: what is on offer, and what a session asked for.
package struct Capabilities: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let messageTags = Capabilities(rawValue: 1 << 0)
    package static let serverTime = Capabilities(rawValue: 1 << 1)
    package static let batch = Capabilities(rawValue: 1 << 2)
    package static let echoMessage = Capabilities(rawValue: 1 << 3)
    package static let labeledResponse = Capabilities(rawValue: 1 << 4)
    package static let standardReplies = Capabilities(rawValue: 1 << 5)
    package static let multiPrefix = Capabilities(rawValue: 1 << 6)
    package static let extendedJoin = Capabilities(rawValue: 1 << 7)
    package static let awayNotify = Capabilities(rawValue: 1 << 8)
    package static let setname = Capabilities(rawValue: 1 << 9)
    package static let userhostInNames = Capabilities(rawValue: 1 << 10)
    package static let capNotify = Capabilities(rawValue: 1 << 11)
    package static let sasl = Capabilities(rawValue: 1 << 12)
    package static let accountTag = Capabilities(rawValue: 1 << 13)
    package static let accountNotify = Capabilities(rawValue: 1 << 14)
    package static let chghost = Capabilities(rawValue: 1 << 15)
    package static let inviteNotify = Capabilities(rawValue: 1 << 16)
    package static let chathistory = Capabilities(rawValue: 1 << 17)
    package static let eventPlayback = Capabilities(rawValue: 1 << 18)
    package static let uid = Capabilities(rawValue: 1 << 19)
    package static let extendedMonitor = Capabilities(rawValue: 1 << 20)
    package static let noImplicitNames = Capabilities(rawValue: 1 << 21)
    package static let extendedISupport = Capabilities(rawValue: 1 << 22)
    package static let preAway = Capabilities(rawValue: 1 << 23)
    package static let metadata = Capabilities(rawValue: 1 << 24)
    /// The same extension as it changes in discussion: what differs is told by numerics.
    package static let metadata3 = Capabilities(rawValue: 1 << 25)
    package static let readMarker = Capabilities(rawValue: 1 << 26)
    /// The tags of a message that is a picture.
    package static let images = Capabilities(rawValue: 1 << 45)
    package static let multiline = Capabilities(rawValue: 1 << 30)
    package static let channelRename = Capabilities(rawValue: 1 << 31)
    package static let messageRedaction = Capabilities(rawValue: 1 << 32)
    package static let messageEdit = Capabilities(rawValue: 1 << 33)
    package static let idempotent = Capabilities(rawValue: 1 << 34)
    package static let receipts = Capabilities(rawValue: 1 << 35)
    package static let channels = Capabilities(rawValue: 1 << 36)
    package static let search = Capabilities(rawValue: 1 << 37)

    /// Who said by RELAYMSG what somebody of another network said.
    package static let relaymsg = Capabilities(rawValue: 1 << 37)
    package static let accountRegistration = Capabilities(rawValue: 1 << 40)

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
