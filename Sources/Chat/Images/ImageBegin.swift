import Bytes
import Wire

/// What is asked of the reader about pictures, and for whom.
struct ImageRequest {
    enum Purpose {
        case begin(UploadState, isPasted: Bool)
        case get(ImageRange)
        case info
        case delete
        case resume
        case status
        case list(Readable)
    }

    var session: ConnectionID
    var label: ByteString
    var purpose: Purpose
    /// As it was given.
    var given: ByteString
}

extension World {
    mutating func beginImage(_ turn: Turn) {
        guard var state = newUpload(turn) else { return }
        if turn[3] != "*" {
            guard let size = turn[3].decimal(limit: .max), size > 0 else {
                return fail(turn, "INVALID_PARAMS", "The size is a number of bytes, or *", about: [shown(turn[3])])
            }
            state.size = Int64(size)
        }
        var captionAt = 4
        if let word = turn.parameter(4), word == "-" || isImageDetails(word, isAlone: turn.parameterCount == 5) {
            captionAt = 5
            if word != "-", !readDetails(turn, word, into: &state) { return }
        }
        guard readCaption(turn, captionAt, into: &state) else { return }
        if let open = openUpload(of: state.uid, state.reference) { return ready(turn, open, isResumed: true) }
        askToBegin(turn, state, isPasted: false)
    }

    mutating func pasteImage(_ turn: Turn) {
        if let paste = images.pastes[turn.session.index], paste.upload != 0 {
            breakOffPaste(turn.session, "Another begins")
        }
        images.pastes[turn.session.index] = nil
        guard var state = newUpload(turn), readCaption(turn, 3, into: &state) else { return }
        askToBegin(turn, state, isPasted: true)
    }

    /// Target and type; nil: refused.
    private mutating func newUpload(_ turn: Turn) -> UploadState? {
        guard let place = imagePlace(turn, turn[1]) else { return nil }
        guard let type = ImageType(turn[2]), settings.images.types.contains(type) else {
            let types = wrap(settings.images.types.map(\.name), width: .max)[0]
            fail(turn, "TYPE_NOT_ALLOWED", "Pictures here are \(types)", about: [shown(turn[2])])
            return nil
        }
        var state = UploadState(
            id: 0, uid: users[turn.me].uid, conversation: place.conversation, target: place.name, type: type)
        state.tags = clientTags(turn)
        return state
    }

    // MARK: Details

    /// Who types forgets the `-` before the caption.
    private func isImageDetails(_ word: ByteView, isAlone: Bool) -> Bool {
        !isAlone || word.parts(0x3B).allSatisfy { ["name=", "sha256=", "ref="].contains(where: $0.hasPrefix) }
    }

    private mutating func readDetails(_ turn: Turn, _ word: ByteView, into state: inout UploadState) -> Bool {
        var wrong: ByteString?
        let limits = settings.images
        Tags.each(word) { detail in
            let value = Tags.unescape(detail.rawValue)
            if detail.key == "name" {
                state.name = ImageText.name(value, limit: limits.nameBytes)
            } else if detail.key == "sha256", let hash = Hex.lowercased(value), hash.count == 64 {
                state.hash = hash
            } else if detail.key == "ref", 1...limits.referenceBytes ~= value.count {
                state.reference = value
            } else {
                wrong = wrong ?? ByteString(detail.key)
            }
        }
        guard let wrong else { return true }
        let text: ByteString =
            "name, sha256 (64 hexadecimal digits) and ref (1 to \(limits.referenceBytes) bytes) are known"
        fail(turn, "INVALID_PARAMS", text, about: [wrong.withView { shown($0) }])
        return false
    }

    private mutating func readCaption(_ turn: Turn, _ index: Int, into state: inout UploadState) -> Bool {
        let caption = turn.parameterCount > index ? freeText(turn, index).trimmed : .empty
        state.caption = ByteString(caption)
        if caption.count <= settings.images.captionBytes { return true }
        fail(turn, "INVALID_PARAMS", "A caption has at most \(settings.images.captionBytes) bytes")
        return false
    }

    // MARK: Places

    /// Where a picture may go; nil: refused.
    private mutating func imagePlace(_ turn: Turn, _ target: ByteView) -> (
        conversation: Conversation, name: ByteString
    )? {
        if target == "*" { return (.portrait(users[turn.me].uid), "*") }
        if target.first == 0x23 {
            guard let channel = channel(named: target), may(turn.me, know: .existence, of: channel) else {
                fail(turn, "INVALID_TARGET", "There is no such channel", about: [shown(target)])
                return nil
            }
            let name = channels[channel].name
            if let why = reasonNotToShow(turn, in: channel) {
                fail(turn, "CANNOT_SEND", why, about: [name])
                return nil
            }
            return (channels[channel].conversation, name)
        }
        guard let receiver = correspondent(target), isKnown(receiver) else {
            fail(turn, "INVALID_TARGET", "Nobody here has this nick", about: [shown(target)])
            return nil
        }
        let name = receiver.name
        if isMutedByServer(turn.session) {
            fail(turn, "CANNOT_SEND", "You are muted on this server", about: [name])
            return nil
        }
        return (.direct(users[turn.me].uid, receiver.uid), name)
    }

    /// The same rights as for what is said, and that it is kept.
    func reasonNotToShow(_ turn: Turn, in channel: ChannelID) -> ByteString? {
        if isMutedByServer(turn.session) { return "You are muted on this server" }
        if channels[channel].has(0x48) { return "Nothing is kept in this channel (+H), so no pictures either" }
        if isHeardByOperatorsOnly(turn.me, in: channel) { return "Only operators hear you in this channel (+U)" }
        let utterance = Utterance(kind: .privmsg, command: "PRIVMSG", text: "[image]", tags: "")
        return reasonNotToSpeak(turn.me, utterance, channel)
    }

    // MARK: May it begin

    private func openUpload(of uid: UID, _ reference: ByteString) -> Upload? {
        if reference.isEmpty { return nil }
        return images.uploads.values.first {
            $0.state.uid == uid && $0.state.reference == reference && $0.stage != .expired
        }
    }

    private mutating func askToBegin(_ turn: Turn, _ state: UploadState, isPasted: Bool) {
        let limits = settings.images
        let open = images.uploads.values.filter { $0.stage != .expired }
        let mine = open.filter { $0.state.uid == state.uid }
        let here = mine.count { $0.session == turn.session }
        if here >= limits.perConnection || mine.count >= limits.perIdentity || open.count >= limits.perServer {
            let text: ByteString =
                "At most \(limits.perConnection) for a connection and \(limits.perIdentity) for a person at a time; IMG STATUS shows them"
            return fail(turn, "TOO_MANY_UPLOADS", text, about: [state.target])
        }
        if state.size > mostBytes(turn.me) { return refuseSize(turn, state.target, mostBytes(turn.me)) }
        if refuseWhileStoreFails(turn, state.target) { return }
        let day: Int64 = 86_400_000
        askForImages(
            turn, .allowance(state.uid, reference: state.reference, since: now.wall - day),
            .begin(state, isPasted: isPasted))
    }

    func mostBytes(_ user: UserID) -> Int64 {
        Int64(users[user].account.isEmpty ? settings.images.guestSize : settings.images.accountSize)
    }

    mutating func refuseSize(_ turn: Turn, _ about: ByteString, _ most: Int64) {
        fail(turn, "TOO_LARGE", "A picture has at most \(most) bytes", about: [about, "\(most)"])
    }

    /// The session's input waits for the answer.
    mutating func askForImages(
        _ turn: Turn, _ wanted: ImageQuestion.Wanted, _ purpose: ImageRequest.Purpose, given: ByteView = .empty,
        limit: Int = 1
    ) {
        let request = ImageRequest(
            session: turn.session, label: deferLabel(turn.session), purpose: purpose, given: ByteString(given))
        sessions[turn.session].isWaiting = true
        effects.imageQuestions.append(
            ImageQuestion(number: nextQuestion(.image(request)), wanted: wanted, limit: limit))
    }

    mutating func begin(_ turn: Turn, _ state: UploadState, _ answer: ImageAnswer, isPasted: Bool) {
        if !beginOrRefuse(turn, state, answer, isPasted: isPasted), isPasted {
            images.pastes[turn.session.index] = Paste()
        }
    }

    /// False: refused, and told.
    private mutating func beginOrRefuse(
        _ turn: Turn, _ state: UploadState, _ answer: ImageAnswer, isPasted: Bool
    ) -> Bool {
        if let image = answer.images.first {
            done(turn, image, target: state.target)
            return true
        }
        // Another connection of the same identity may have been quicker.
        if let open = openUpload(of: state.uid, state.reference) {
            ready(turn, open, isResumed: true)
            return true
        }
        if refuseWhileStoreFails(turn, state.target) { return false }
        let reserved = images.uploads.values.reduce(Int64(0)) {
            $0 + ($1.state.uid == state.uid ? max($1.state.size, $1.state.received) : 0)
        }
        let isGuest = users[turn.me].account.isEmpty
        let daily = Int64(isGuest ? settings.images.guestDaily : settings.images.accountDaily)
        let left = daily - answer.storedByIdentity - reserved
        let room = Int64(settings.images.total) - answer.storedByServer
        let wanted = max(state.size, 1)
        if wanted > left {
            let text: ByteString = "At most \(daily) bytes of pictures a day; \(max(0, left)) are left"
            fail(turn, "QUOTA_EXCEEDED", text, about: [state.target, "\(max(0, left))"])
            return false
        }
        if wanted > room {
            fail(turn, "STORE_FULL", "The server has no room for more pictures", about: [state.target])
            return false
        }
        var upload = Upload(state, most: mostBytes(turn.me), expires: 0)
        if left < upload.most { (upload.most, upload.excess) = (left, "QUOTA_EXCEEDED") }
        if room < upload.most { (upload.most, upload.excess) = (room, "STORE_FULL") }
        upload.isPasted = isPasted
        open(turn, upload)
        return true
    }

    private mutating func open(_ turn: Turn, _ given: Upload) {
        var upload = given
        upload.state.id = newImageNumber()
        let id = upload.state.id
        images.uploads[id] = upload
        touch(id)
        if upload.isPasted { images.pastes[turn.session.index] = Paste(upload: id) }
        let refusal = refusable(turn.session, turn.command, upload.state.target)
        save(.saveUpload(upload.state))
        if let upload = images.uploads[id] { ready(turn, upload, isResumed: false, refusal: refusal) }
    }

    /// Nobody can guess it who has not the server's secret.
    private mutating func newImageNumber() -> Int64 {
        let seed = withUnsafeBytes(of: random.next()) { Array($0) }
        let number = ports.mac(Array("image".utf8) + seed).prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return max(1, number & (1 << 60 - 1))
    }

    /// `IMG READY`: from where on, how much in a line, how much without an answer, until when.
    mutating func ready(_ turn: Turn, _ upload: Upload, isResumed: Bool, refusal: Int32 = -1) {
        let id = upload.state.id
        images.uploads[id]?.session = turn.session
        images.newest[turn.session.index] = id
        images.newestOf[upload.state.uid] = id
        let limits = settings.images
        let expires = Times.serverTime(images.uploads[id]?.expires ?? 0)
        let body: ByteString =
            "IMG READY \(ImageID.text(id)) \(upload.state.received) \(limits.chunk) \(limits.window) \(expires) \(upload.state.target)"
        sayServer(turn.session, body, refusal)
    }

    /// A line of the server that leaves only if what it tells is stored.
    mutating func sayServer(_ session: ConnectionID, _ body: ByteString, _ refusal: Int32) {
        var line = Outgoing(source: settings.serverName, time: now.wall, body: body)
        line.refusal = refusal
        send(line, to: session)
    }

    mutating func done(_ turn: Turn, _ image: ImageState, target: ByteString, refusal: Int32 = -1) {
        let msgid: ByteString = image.position == 0 ? "*" : MessageID.text(image.position)
        images.newest[turn.session.index] = image.id
        images.newestOf[image.uid] = image.id
        sayServer(
            turn.session, "IMG DONE \(ImageID.text(image.id)) \(target) \(msgid) \(image.size) \(image.hash)", refusal)
    }
}
