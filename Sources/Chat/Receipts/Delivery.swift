import Bytes
import Wire

/// A message whose author wants to be told live who gets it.
struct AwaitedMessage {
    var position: Int64
    var time: Int64
    var author: UID
}

/// What is awaited, by conversation; the newest few of each, and of so many conversations. What is forgotten is told by
/// RECEIPTS alone.
struct AwaitedReceipts {
    static let messages = 32
    static let conversations = 10_000

    private var awaited: [Conversation: [AwaitedMessage]] = [:]

    var isEmpty: Bool { awaited.isEmpty }

    subscript(conversation: Conversation) -> [AwaitedMessage] { awaited[conversation] ?? [] }

    mutating func add(_ message: AwaitedMessage, _ conversation: Conversation) {
        if awaited.count >= AwaitedReceipts.conversations { awaited = [:] }
        awaited[conversation, default: []].append(message)
        if awaited[conversation]!.count > AwaitedReceipts.messages { awaited[conversation]!.removeFirst() }
    }
}

extension World {
    /// Channels of more members tell no receipts live.
    static let receiptMembers = 50
    /// Milliseconds after which a session that got such a message is asked whether it has come, at once for many.
    static let confirmDelay: Int64 = 1_000

    /// The message just said, if its author wants to hear who gets it. Its receivers are asked by a PING soon.
    mutating func awaitReceipts(_ turn: Turn, _ line: Outgoing, in channel: ChannelID) {
        guard wantsReceipts(turn), channels[channel].members.count <= World.receiptMembers else { return }
        awaitReceipts(turn, line, channels[channel].conversation, from: channels[channel].members.map(\.user))
    }

    mutating func awaitReceipts(_ turn: Turn, _ line: Outgoing, from receiver: Correspondent) {
        guard wantsReceipts(turn) else { return }
        let conversation = Conversation.direct(users[turn.me].uid, receiver.uid)
        awaitReceipts(turn, line, conversation, from: receiver.user.map { [$0] } ?? [])
    }

    private func wantsReceipts(_ turn: Turn) -> Bool {
        capabilities[Int(turn.session.index)].contains(.receipts) && givesReceipts(turn.me)
    }

    private mutating func awaitReceipts(
        _ turn: Turn, _ line: Outgoing, _ conversation: Conversation, from receivers: [UserID]
    ) {
        receiptsAwaited.add(
            AwaitedMessage(position: line.position, time: line.time, author: users[turn.me].uid), conversation)
        for user in receivers where user != turn.me && givesReceipts(user) {
            if !users[user].unconfirmed.contains(conversation) { users[user].unconfirmed.append(conversation) }
            for session in users[user].sessions where sessions[session].confirmsAt == 0 {
                sessions[session].confirmsAt = now.steady + World.confirmDelay
                deadlines.add(sessions[session].confirmsAt, .confirm, session)
            }
        }
    }

    /// A PING by whose answer all that was written before it is known to have come.
    mutating func confirmDue(_ id: ConnectionID) {
        sessions[id].confirmsAt = 0
        guard sessions[id].stage == .registered, sessions[id].manner == .client else { return }
        if sessions[id].pingedPosition != 0 {
            // It answers one after the other.
            sessions[id].confirmsAt = now.steady + World.confirmDelay
            return deadlines.add(sessions[id].confirmsAt, .confirm, id)
        }
        sessions[id].pingedPosition = lastPosition
        sendRaw(id, "PING :\(settings.serverName)")
    }

    mutating func ponged(_ id: ConnectionID) {
        let position = sessions[id].pingedPosition
        sessions[id].pingedPosition = 0
        delivered(id, upTo: position)
    }

    /// A person is not pinged: with a line all is taken for seen that was written before its line before.
    mutating func typedAgain(_ id: ConnectionID) {
        delivered(id, upTo: sessions[id].typedPosition)
        sessions[id].typedPosition = lastPosition
    }

    /// What was written to the session before this position has come.
    mutating func delivered(_ id: ConnectionID, upTo position: Int64) {
        guard position > 0, let user = sessions[id].user, position > users[user].delivered else { return }
        let before = users[user].delivered
        users[user].delivered = position
        if !givesReceipts(user) { return }
        if users[user].isKept {
            save(.saveDelivered(users[user].uid, position: position, time: now.wall))
        }
        let unconfirmed = users[user].unconfirmed
        users[user].unconfirmed = []
        let receipt = Receipt(uid: users[user].uid, isRead: false, time: now.wall)
        for conversation in unconfirmed {
            tellAuthors(conversation, receipt) { $0.position > before && $0.position <= position }
            if receiptsAwaited[conversation].contains(where: { $0.position > position }) {
                users[user].unconfirmed.append(conversation)
            }
        }
    }

    /// MARKREAD moved on.
    mutating func read(_ user: UserID, _ conversation: Conversation, from before: Int64, to time: Int64) {
        if receiptsAwaited.isEmpty || !givesReceipts(user) { return }
        tellAuthors(conversation, Receipt(uid: users[user].uid, isRead: true, time: time)) {
            $0.time > before && $0.time <= time
        }
    }

    /// The newest of each author's that match: what is older is included, as receipts are high-water marks.
    private mutating func tellAuthors(
        _ conversation: Conversation, _ receipt: Receipt, where matches: (AwaitedMessage) -> Bool
    ) {
        var told: [UID] = [receipt.uid]
        for message in receiptsAwaited[conversation].reversed()
        where matches(message) && !told.contains(message.author) {
            told.append(message.author)
            guard let author = identities[message.author], givesReceipts(author),
                let name = conversationName(conversation, receipt.uid, author)
            else { continue }
            let line = receiptLine(name, message.position, receipt)
            for session in users[author].sessions
            where capabilities[Int(session.index)].contains(.receipts) {
                tell(session, line)
            }
        }
    }

    /// As the author calls it; nil: it is no more the author's.
    private func conversationName(_ conversation: Conversation, _ reader: UID, _ author: UserID) -> ByteString? {
        if conversation.isDirect { return name(of: reader) }
        let channel = users[author].channels.first { channels[$0].conversation == conversation }
        return channel.map { channels[$0].name }
    }
}
