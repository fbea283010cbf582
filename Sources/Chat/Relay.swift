import Bytes
import Wire

/// One line that many may hear, before it takes the form that each receiver's capabilities ask for.
struct Outgoing {
    /// `nick!user@host`, or the server's name.
    var source: ByteString
    var account: ByteString = ""
    var uid: UID = .none
    /// The sender says of itself that it is a bot (IRCv3 bot mode).
    var isBot = false
    /// Wall milliseconds.
    var time: Int64
    /// 0: no msgid.
    var position: Int64 = 0
    /// Client-only tags, as on the wire.
    var tags: ByteString = ""
    /// Command and parameters.
    var body: ByteString
    /// What `extended-join` receivers get instead of `body`.
    var extendedBody: ByteString?
    /// Reference of the batch it is in; empty: in none. Only a page of history has one.
    var batch: ByteString = ""
    /// What is said instead of `body`, which is then its command and target.
    var multiline: Multiline?
    /// Index in `Effects.refusals`; -1: leaves whatever the store says.
    var refusal: Int32 = -1

    /// The capabilities that make a difference for this line (its form depends on receiver AND these).
    var interest: Capabilities {
        var interest: Capabilities = [.serverTime]
        if position != 0 || !tags.isEmpty || isBot { interest.insert(.messageTags) }
        if !tags.isEmpty { interest.formUnion(tags.withView { ServerTags.capability(for: $0) }) }
        if !account.isEmpty { interest.insert(.accountTag) }
        if uid != .none { interest.insert(.uid) }
        if extendedBody != nil { interest.insert(.extendedJoin) }
        if multiline != nil { interest.formUnion([.multiline, .batch]) }
        return interest
    }
}

/// The forms of one line written so far, by capability class. A channel rarely has more than two.
struct Forms {
    private typealias Form = (class: Capabilities, line: LineRef)
    private var first: Form?
    private var second: Form?
    private var others: ContiguousArray<Form> = []
    let interest: Capabilities

    init(interest: Capabilities) { self.interest = interest }

    func line(for capabilities: Capabilities) -> LineRef? {
        let wanted = capabilities.intersection(interest)
        if let first, first.class == wanted { return first.line }
        if let second, second.class == wanted { return second.line }
        for form in others where form.class == wanted { return form.line }
        return nil
    }

    mutating func add(_ line: LineRef, for capabilities: Capabilities) {
        let form = (class: capabilities.intersection(interest), line: line)
        if first == nil {
            first = form
        } else if second == nil {
            second = form
        } else {
            others.append(form)
        }
    }
}

extension World {
    /// What a user does, as everyone sees it now.
    func outgoing(from user: UserID, _ body: ByteString) -> Outgoing {
        Outgoing(
            source: users[user].source, account: users[user].account, uid: users[user].uid,
            isBot: users[user].modes.contains(.bot), time: now.wall, body: body)
    }

    /// Says `line` to one session, in its form.
    mutating func send(_ line: Outgoing, to session: ConnectionID) {
        let written = write(line, for: capabilities[Int(session.index)])
        deliver(written, to: session, refusal: line.refusal)
    }

    /// Says `line` to every session of a channel's members, each form written once.
    mutating func relay(
        _ line: Outgoing, to channel: ChannelID, except: ConnectionID? = nil, needing: Capabilities = []
    ) {
        var forms = Forms(interest: line.interest)
        relay(line, to: channels[channel].audience, &forms, except: except, needing: needing)
    }

    mutating func relay(
        _ line: Outgoing, to audience: ContiguousArray<ConnectionID>, _ forms: inout Forms,
        except: ConnectionID? = nil, needing: Capabilities = []
    ) {
        let exceptSlot = except?.index ?? -1
        for session in audience where session.index != exceptSlot {
            let mine = capabilities[Int(session.index)]
            if !mine.isSuperset(of: needing) { continue }
            let written: LineRef
            if let known = forms.line(for: mine) {
                written = known
            } else {
                written = write(line, for: mine)
                forms.add(written, for: mine)
            }
            deliver(written, to: session, refusal: line.refusal)
        }
    }

    /// Every session that shares a channel with `user`, the user's own included, each once. Who was seen is stamped in
    /// a table by slot: a storm of quits in a large channel costs one comparison for each pair.
    mutating func neighbours(of user: UserID) -> ContiguousArray<ConnectionID> {
        stamp &+= 1
        while stamps.count < capabilities.count { stamps.append(0) }
        var found = users[user].sessions
        for session in found { stamps[Int(session.index)] = stamp }
        for channel in users[user].channels {
            for session in channels[channel].audience where stamps[Int(session.index)] != stamp {
                stamps[Int(session.index)] = stamp
                found.append(session)
            }
        }
        return found
    }

    /// The line's bytes in the arena, in the form of one capability class.
    mutating func write(_ line: Outgoing, for capabilities: Capabilities) -> LineRef {
        if let multiline = line.multiline { return write(multiline, of: line, for: capabilities) }
        let start = effects.outbox.mark
        var tags = TagWriter()
        if !line.batch.isEmpty {
            tags.begin("batch", &effects.outbox)
            effects.outbox.write(line.batch)
        }
        if capabilities.contains(.serverTime) {
            tags.begin("time", &effects.outbox)
            effects.outbox.write { Times.write(line.time, into: &$0) }
        }
        if capabilities.contains(.messageTags) {
            if line.position != 0 {
                tags.begin("msgid", &effects.outbox)
                effects.outbox.write(MessageID.text(line.position))
            }
        }
        if !line.tags.isEmpty { write(line.tags, &tags, for: capabilities) }
        if line.isBot, capabilities.contains(.messageTags) {
            tags.separate(&effects.outbox)
            effects.outbox.write("bot" as StaticString)
        }
        if capabilities.contains(.accountTag), !line.account.isEmpty {
            tags.begin("account", &effects.outbox)
            effects.outbox.write(line.account)
        }
        if capabilities.contains(.uid), line.uid != .none {
            tags.begin("parley.chat/uid", &effects.outbox)
            effects.outbox.write(line.uid.text)
        }
        tags.end(&effects.outbox)
        effects.outbox.write(byte: 0x3A)
        effects.outbox.write(line.source)
        effects.outbox.write(byte: 0x20)
        if let extended = line.extendedBody, capabilities.contains(.extendedJoin) {
            effects.outbox.write(extended)
        } else {
            effects.outbox.write(line.body)
        }
        let written = effects.outbox.endLine(from: start)
        if line.refusal >= 0 { effects.outbox.depend(written, on: line.refusal) }
        return written
    }
}

extension World {
    private mutating func write(_ line: ByteString, _ tags: inout TagWriter, for capabilities: Capabilities) {
        line.withView { view in
            let (own, others) = ServerTags.split(view)
            if !own.isEmpty, !capabilities.isDisjoint(with: ServerTags.capability(for: own)) {
                tags.separate(&effects.outbox)
                effects.outbox.write(own)
            }
            if !others.isEmpty, capabilities.contains(.messageTags) {
                tags.separate(&effects.outbox)
                effects.outbox.write(others)
            }
        }
    }
}

/// Puts `@`, `;`, `=` and the closing space of a tag section.
struct TagWriter {
    private var isEmpty = true

    mutating func separate(_ outbox: inout Outbox) {
        outbox.write(byte: isEmpty ? 0x40 : 0x3B)
        isEmpty = false
    }

    mutating func begin(_ key: StaticString, _ outbox: inout Outbox) {
        separate(&outbox)
        outbox.write(key)
        outbox.write(byte: 0x3D)
    }

    func end(_ outbox: inout Outbox) { if !isEmpty { outbox.write(byte: 0x20) } }
}
