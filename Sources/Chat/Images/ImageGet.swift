import Bytes
import Wire

/// Which bytes of a picture are asked for, and how many in a line.
struct ImageRange {
    var offset: Int64 = 0
    /// nil: all that follow.
    var length: Int64?
    var chunk: Int
}

/// Pictures on their way out: a piece at a time, and the next one only when the connection has taken what it was sent,
/// so that what is said never waits behind more than a piece.
extension World {
    mutating func getImage(_ turn: Turn) {
        guard let number = imageNumber(turn[1], turn.session) else { return refuseUnknownImage(turn, turn[1]) }
        var range = ImageRange(chunk: settings.images.plainChunk)
        var numbers: [Int64] = []
        for i in 2..<max(2, turn.parameterCount) {
            let word = turn[i]
            if word.hasPrefix("chunk="), let chunk = word.dropFirst(6).decimal(), 3...settings.images.chunk ~= chunk {
                range.chunk = chunk / 3 * 3
            } else if numbers.count < 2, let number = word.decimal(limit: .max) {
                numbers.append(Int64(number))
            } else {
                let text: ByteString =
                    "IMG GET <id> [<offset> [<length>]] [chunk=<3 to \(settings.images.chunk)>], all in bytes"
                return fail(turn, "INVALID_PARAMS", text, about: [shown(word)])
            }
        }
        range.offset = numbers.first ?? 0
        range.length = numbers.count > 1 ? numbers[1] : nil
        askForImages(turn, .image(number), .get(range), given: turn[1])
    }

    /// Who may read the message may have the picture; a portrait anybody.
    func maySee(_ image: ImageState, _ user: UserID) -> Bool {
        let place = image.conversation
        if place.isPortrait { return true }
        let own = users[user].uid.number
        if place.isDirect { return place.a == own || place.b == own }
        let channel = users[user].channels.first { channels[$0].state.id == place.a }
        guard let channel, let readable = readable(channel, by: user) else { return false }
        return image.position >= readable.oldest
    }

    mutating func get(_ turn: Turn, _ image: ImageState, _ range: ImageRange) {
        guard range.offset <= image.size else {
            let id = ImageID.text(image.id)
            return fail(turn, "BAD_OFFSET", "It has \(image.size) bytes", about: [id, "\(image.size)"])
        }
        let end = range.length.map { min(image.size - range.offset, $0) + range.offset } ?? image.size
        let transfer = Transfer(
            image: image.id, hash: image.hash, next: range.offset, end: end, chunk: range.chunk)
        let slot = turn.session.index
        images.transfers[slot, default: []].append(transfer)
        if images.transfers[slot]?.count == 1 { images.hungry.append(turn.session) }
    }

    /// It is owed more than it has room for: pictures, or the list of channels.
    func isReceiving(_ session: ConnectionID) -> Bool {
        images.transfers[session.index] != nil || watch.listings[session.index] != nil
    }

    /// So many pictures were asked for that no more is read until one has left.
    func isAskingForMuch(_ session: ConnectionID) -> Bool {
        !images.transfers.isEmpty && images.transfers[session.index]?.count ?? 0 >= settings.images.transfers
    }

    /// The connection has taken nearly all that it was sent.
    mutating func hasRoom(_ session: ConnectionID) {
        images.hungry.removeAll { $0 == session }
        guard sessions.contains(session), sessions[session].stage == .registered,
            let transfer = images.transfers[session.index]?.first, !transfer.isAsked
        else { return }
        let left = Int(transfer.end - transfer.next)
        if left == 0 { return endTransfer(session) }
        let piece = max(1, settings.images.piece / transfer.chunk) * transfer.chunk
        images.transfers[session.index]?[0].isAsked = true
        effects.images.append(
            .read(
                number: nextQuestion(.imageBytes(session, transfer.image)), hash: transfer.hash, at: transfer.next,
                count: min(left, piece)))
    }

    mutating func send(_ bytes: [UInt8], _ failure: String?, for number: Int64) {
        guard case .imageBytes(let session, let image)? = pending.removeValue(forKey: number),
            let transfer = images.transfers[session.index]?.first, transfer.isAsked, transfer.image == image,
            sessions.contains(session), sessions[session].stage == .registered
        else { return }
        if let failure {
            note(.warning, "picture \(ImageID.text(image)) cannot be read: \(failure)")
            sendRaw(
                session,
                ":\(settings.serverName) FAIL IMG INTERNAL_ERROR \(ImageID.text(image)) :It cannot be read now")
            return nextTransfer(session)
        }
        bytes.withUnsafeBytes { sendData(session, transfer, ByteView($0)) }
        images.transfers[session.index]?[0].next += Int64(bytes.count)
        images.transfers[session.index]?[0].isAsked = false
        images.hungry.append(session)
    }

    /// `IMG DATA <id> <offset> <base64>`, as many lines as it takes.
    private mutating func sendData(_ session: ConnectionID, _ transfer: Transfer, _ bytes: ByteView) {
        let head: ByteString = "IMG DATA \(ImageID.text(transfer.image)) "
        var at = 0
        while at < bytes.count {
            let end = min(bytes.count, at + transfer.chunk)
            let offset = Int(transfer.next) + at
            let start = effects.outbox.mark
            effects.outbox.write(head)
            effects.outbox.write {
                $0.append(number: offset)
                $0.append(byte: 0x20)
                Base64.encode(bytes[at..<end], into: &$0)
            }
            deliver(effects.outbox.endLine(from: start), to: session)
            at = end
        }
    }

    private mutating func endTransfer(_ session: ConnectionID) {
        guard let transfer = images.transfers[session.index]?.first else { return }
        sendRaw(session, "IMG EOF \(ImageID.text(transfer.image)) \(transfer.hash)")
        nextTransfer(session)
    }

    /// The next one, or what waited for the end of the last.
    private mutating func nextTransfer(_ session: ConnectionID) {
        let wasMuch = isAskingForMuch(session)
        images.transfers[session.index]?.removeFirst()
        if images.transfers[session.index]?.isEmpty ?? true {
            images.transfers[session.index] = nil
            if isReceiving(session) { return }
            if let reason = sessions[session].leaving { return close(session, reason: reason, error: reason) }
            return endInputIfOver(session)
        }
        images.hungry.append(session)
        if wasMuch, !isInputBlocked(session) { effects.resumes.append(session) }
    }

    mutating func stopImage(_ turn: Turn) {
        let slot = turn.session.index
        let number = imageNumber(turn[1], turn.session)
        guard let at = images.transfers[slot]?.firstIndex(where: { $0.image == number }), let number else {
            return fail(turn, "NOT_OPEN", "It is not being sent", about: [shown(turn[1])])
        }
        tell(turn.session, "IMG ABORTED \(ImageID.text(number)) :You stopped it")
        if at == 0 {
            images.hungry.removeAll { $0 == turn.session }
            nextTransfer(turn.session)
        } else {
            images.transfers[slot]?.remove(at: at)
        }
    }

    /// QUIT in a script behind a GET means: then. What a client says is meant now.
    mutating func leavesLater(_ session: ConnectionID, _ reason: ByteString) -> Bool {
        guard isReceiving(session), sessions[session].isPlain else { return false }
        sessions[session].leaving = reason
        return true
    }
}
