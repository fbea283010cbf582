import Bytes
import Wire

let receiptsCommand = Command(
    "RECEIPTS", minimum: 2, cost: 2000, source: "docs/PROTOCOL.md, Sent, delivered, read",
    help: [
        "RECEIPTS <#channel|nick> <msgid>", "Who got a message of yours, and who has read it.",
        "METADATA * SET parley.chat/receipts off gives none and gets none.", "Example: RECEIPTS #lobby 0000000g0003",
    ]
) { world, turn in world.receipts(turn) }

/// RECEIPTS on its way.
struct ReceiptsRequest {
    var session: ConnectionID
    var reader: UID
    var capabilities: Capabilities
    var label: ByteString
    var target: Readable
    var position: Int64
}

extension World {
    fileprivate mutating func receipts(_ turn: Turn) {
        let given = shown(turn[0])
        guard let target = readable(turn[0], by: turn.me) else {
            return fail(turn, "INVALID_TARGET", "There are no messages of yours", about: [given])
        }
        guard givesReceipts(turn.me) else {
            return fail(
                turn, "RECEIPTS_OFF", "Who gives no receipts gets none: METADATA * SET parley.chat/receipts on",
                about: [given])
        }
        guard let position = MessageID.position(turn[1]) else { return refuseMessage(turn, given, shown(turn[1])) }
        let request = ReceiptsRequest(
            session: turn.session, reader: users[turn.me].uid, capabilities: capabilities[Int(turn.session.index)],
            label: deferLabel(turn.session), target: target, position: position)
        let number = nextQuestion(.receipts(request))
        hold(turn.session, for: number)
        effects.receipts.append(
            ReceiptsQuestion(
                number: number, conversation: target.conversation, position: position, author: request.reader,
                oldest: target.oldest, limit: World.mostReceipts))
    }

    static let mostReceipts = 1_000

    /// Nobody learns whether a message is not there or somebody else's.
    private mutating func refuseMessage(_ turn: Turn, _ target: ByteString, _ reference: ByteString) {
        fail(turn, "UNKNOWN_MSGID", "You have no message of this id there", about: [target, reference])
    }

    func givesReceipts(_ user: UserID) -> Bool { users[user].metadata[MetadataKeys.receipts] != "off" }

    mutating func answered(_ answer: ReceiptsAnswer) {
        guard case .receipts(let request)? = pending.removeValue(forKey: answer.number) else { return }
        if let failure = answer.failure { note(.warning, "receipts not read: \(failure)") }
        guard sessions.contains(request.session) else { return }
        let start = effects.outbox.mark
        let id = MessageID.text(request.position)
        if answer.failure != nil || !answer.isFound {
            let (code, text): (StaticString, ByteString) =
                answer.failure == nil
                ? ("UNKNOWN_MSGID", "You have no message of this id there")
                : ("INTERNAL_ERROR", "The receipts could not be read now")
            writeLine(
                request.label.isEmpty ? "" : "label=\(request.label)",
                StandardReplies.fail("RECEIPTS", code, [request.target.name, id], text))
        } else {
            writeReceipts(answer, request, id)
        }
        effects.outbox.answer(
            request.session, number: answer.number, with: LineRef(start: start, end: effects.outbox.mark))
    }

    private mutating func writeReceipts(_ answer: ReceiptsAnswer, _ request: ReceiptsRequest, _ id: ByteString) {
        var reference: ByteString = ""
        if request.capabilities.contains(.batch) {
            reference = openBatch("parley.chat/receipts \(request.target.name)", label: request.label)
        }
        let tags: ByteString = reference.isEmpty ? "" : "batch=\(reference)"
        for receipt in answer.receipts {
            writeLine(tags, receiptLine(request.target.name, request.position, receipt))
        }
        writeLine(tags, StandardReplies.note("RECEIPTS", "END", [request.target.name], "That is all"))
        if !reference.isEmpty { writeLine("", "BATCH -\(reference)") }
    }

    func receiptLine(_ target: ByteString, _ position: Int64, _ receipt: Receipt) -> ByteString {
        let nick = name(of: receipt.uid)
        let what: StaticString = receipt.isRead ? "read" : "delivered"
        let time = Times.serverTime(receipt.time)
        return "RECEIPT \(target) \(MessageID.text(position)) \(nick) \(receipt.uid.text) \(what) \(time)"
    }
}
