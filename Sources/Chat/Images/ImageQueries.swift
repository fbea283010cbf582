import Bytes
import Wire

/// What is asked about pictures.
extension World {
    mutating func lookForImage(_ turn: Turn, _ purpose: ImageRequest.Purpose) {
        guard let number = imageNumber(turn[1], turn.session) else { return refuseUnknownImage(turn, turn[1]) }
        askForImages(turn, .image(number), purpose, given: turn[1])
    }

    mutating func imageStatus(_ turn: Turn) {
        guard let word = turn.parameter(1) else {
            let mine = images.uploads.values.filter { $0.state.uid == users[turn.me].uid }
            for upload in mine.sorted(by: { $0.state.id < $1.state.id }) { tellState(turn, upload) }
            let text: ByteString = mine.isEmpty ? "You are sending no pictures" : "These are all"
            return tell(turn.session, StandardReplies.note("IMG", "END", ["*"], text))
        }
        if let upload = upload(turn, word) { return tellState(turn, upload) }
        lookForImage(turn, .status)
    }

    private mutating func tellState(_ turn: Turn, _ upload: Upload) {
        let word: StaticString = upload.stage == .expired ? "expired" : "open"
        let state = upload.state
        tell(
            turn.session,
            "IMG STATE \(ImageID.text(state.id)) \(word) \(state.received) \(state.size) \(Times.serverTime(upload.expires))"
        )
    }

    mutating func deleteImage(_ turn: Turn) {
        if let upload = upload(turn, turn[1]), upload.stage == .open { return abortImage(turn) }
        if refuseWhileStoreFails(turn, shown(turn[1])) { return }
        lookForImage(turn, .delete)
    }

    mutating func listImages(_ turn: Turn) {
        guard let target = readable(turn[1], by: turn.me) else {
            return fail(
                turn, "INVALID_TARGET", "There is nothing of this name that you may read", about: [shown(turn[1])])
        }
        var before = Int64.max
        var limit = settings.images.listed
        if let word = turn.parameter(2), word != "*" {
            guard let position = MessageID.position(word) else {
                return fail(turn, "INVALID_PARAMS", "Before which message? Its msgid, or *", about: [shown(word)])
            }
            before = position
        }
        if let word = turn.parameter(3) {
            guard let number = word.decimal(), number > 0 else {
                return fail(turn, "INVALID_PARAMS", "How many is a number", about: [shown(word)])
            }
            limit = min(number, limit)
        }
        askForImages(
            turn, .list(target.conversation, before: before, oldest: target.oldest), .list(target), given: turn[1],
            limit: limit)
    }

    // MARK: Answers

    mutating func answered(_ answer: ImageAnswer) {
        guard case .image(let request)? = pending.removeValue(forKey: answer.number) else { return }
        if let failure = answer.failure { note(.warning, "pictures not looked for: \(failure)") }
        answerWaiting(request.session, label: request.label) { world, turn in world.tell(turn, answer, request) }
    }

    private mutating func tell(_ turn: Turn, _ answer: ImageAnswer, _ request: ImageRequest) {
        if answer.failure != nil {
            if case .begin(_, true) = request.purpose { images.pastes[turn.session.index] = Paste() }
            return fail(turn, "INTERNAL_ERROR", "The server could not look for it now; try again in a while")
        }
        if case .begin(let state, let isPasted) = request.purpose {
            return begin(turn, state, answer, isPasted: isPasted)
        }
        if case .list(let target) = request.purpose { return tellList(turn, answer, target) }
        guard let image = answer.images.first, maySee(image, turn.me) else {
            return request.given.withView { refuseUnknownImage(turn, $0) }
        }
        let id = ImageID.text(image.id)
        switch request.purpose {
        case .get(let range): get(turn, image, range)
        case .info: tell(turn.session, ImageText.meta(image))
        case .delete: delete(turn, image)
        case .resume:
            guard image.uid == users[turn.me].uid else {
                return request.given.withView { refuseUnknownImage(turn, $0) }
            }
            done(turn, image, target: name(of: image, turn.me))
        case .status: tell(turn.session, "IMG STATE \(id) done \(image.size) \(image.size) *")
        case .begin, .list: break
        }
    }

    /// Of the place it was sent to, as it is called now.
    private func name(of image: ImageState, _ user: UserID) -> ByteString {
        let place = image.conversation
        if place.isPortrait { return "*" }
        guard place.isDirect else {
            return users[user].channels.first { channels[$0].state.id == place.a }.map { channels[$0].name } ?? "*"
        }
        return name(of: other(in: place, than: user))
    }

    /// Newest first; the cursor asks for those before.
    private mutating func tellList(_ turn: Turn, _ answer: ImageAnswer, _ target: Readable) {
        let isBatched = capabilities[Int(turn.session.index)].contains(.batch) && response.slot != turn.session.index
        let reference = isBatched ? nextReference() : ""
        if isBatched { tell(turn.session, "BATCH +\(reference) parley.chat/images \(target.name)") }
        for image in answer.images { tell(turn.session, ImageText.meta(image), in: reference) }
        var context = [target.name]
        if !answer.isComplete, let last = answer.images.last { context.append(MessageID.text(last.position)) }
        let text: ByteString = answer.isComplete ? "These are all" : "There are more before"
        tell(turn.session, StandardReplies.note("IMG", "END", context, text), in: reference)
        if isBatched { tell(turn.session, "BATCH -\(reference)") }
    }

    /// With the picture goes its message.
    private mutating func delete(_ turn: Turn, _ image: ImageState) {
        let id = ImageID.text(image.id)
        guard image.uid == users[turn.me].uid else {
            return fail(turn, "FORBIDDEN", "It is not yours; a channel operator may REDACT its message", about: [id])
        }
        if refuseWhileStoreFails(turn, id) { return }
        if image.conversation.isPortrait {
            dropPortrait(of: turn.me)
            changeAvatar(turn, nil)
            return tell(turn.session, StandardReplies.note("IMG", "DELETED", [id], "Your photo is gone"))
        }
        let target = name(of: image, turn.me)
        let request = ChangeRequest(
            session: turn.session, user: turn.me, command: turn.command, kind: .redact(reason: ""), target: target,
            reference: MessageID.text(image.position))
        let channel = image.conversation.isDirect ? nil : target.withView { self.channel(named: $0) }
        redact(
            deleted(image), request,
            ChangePlace(channel: channel, conversation: image.conversation, name: target), reason: "")
    }

    /// What REDACT must know of the message.
    private func deleted(_ image: ImageState) -> LogRecord {
        LogRecord(
            position: image.position, conversation: image.conversation, time: image.time, kind: .privmsg,
            uid: image.uid,
            source: "", text: image.text)
    }

    /// The photo's row and file; what tells of it is the caller's.
    mutating func dropPortrait(of user: UserID) {
        save(.dropPortrait(users[user].uid))
        effects.images.append(.collect)
    }
}
