import Bytes
import Wire

/// An upload that is being checked and stored, and who waits for it.
struct ImageEnd {
    var session: ConnectionID
    var upload: Int64
    var label: ByteString
}

/// The end of an upload: the bytes are checked by the image files' thread, then the message and the picture's row are
/// one batch. What fails here closes the upload.
extension World {
    mutating func endImage(_ turn: Turn) {
        guard let upload = upload(turn, turn[1]) else { return refuseUnknownImage(turn, turn[1]) }
        let id = ImageID.text(upload.state.id)
        guard upload.stage == .open, !upload.isPasted else {
            return fail(turn, "NOT_OPEN", "It cannot be ended now", about: [id])
        }
        if upload.isStalled { return refuseStalled(turn, id) }
        var hash: ByteString = ""
        if let given = turn.parameter(2), !given.isEmpty {
            guard let digits = Hex.lowercased(ByteString(given)), digits.count == 64 else {
                return fail(turn, "INVALID_PARAMS", "A SHA-256 has 64 hexadecimal digits", about: [shown(given)])
            }
            hash = digits
        }
        finish(turn, upload.state.id, hash: hash)
    }

    /// The session's input waits, so that what it says next comes behind the picture.
    mutating func finish(_ turn: Turn, _ id: Int64, hash: ByteString) {
        guard let upload = images.uploads[id] else { return }
        sessions[turn.session].sendsImage = false
        let state = upload.state
        let text = ImageID.text(id)
        if state.size != 0, state.received != state.size {
            dropUpload(id)
            return refuseSizeMismatch(turn, state, state.received)
        }
        if !hash.isEmpty, !state.hash.isEmpty, hash != state.hash {
            dropUpload(id)
            return fail(
                turn, "HASH_MISMATCH", "Another SHA-256 was announced; nothing is kept", about: [text, state.hash])
        }
        if let refusal = reasonNotToPost(turn, state) {
            dropUpload(id)
            return fail(turn, refusal.code, refusal.text, about: [state.target])
        }
        if refuseWhileStoreFails(turn, state.target) { return }
        images.uploads[id]?.stage = .finishing
        images.uploads[id]?.session = turn.session
        let end = ImageEnd(session: turn.session, upload: id, label: deferLabel(turn.session))
        sessions[turn.session].isWaiting = true
        effects.images.append(
            .finish(
                ImageFinish(
                    number: nextQuestion(.imageEnd(end)), upload: id, type: state.type, size: state.received,
                    hash: hash.isEmpty ? state.hash : hash, megapixels: settings.images.megapixels)))
    }

    /// The channel that the upload is for, if it is for one and that is still there.
    private func channel(of state: UploadState, _ user: UserID) -> ChannelID? {
        let number = state.conversation.a
        return users[user].channels.first { channels[$0].state.id == number }
            ?? channels.ids.first { channels[$0].state.id == number }
    }

    /// What was true at the beginning need not be so any more.
    private func reasonNotToPost(_ turn: Turn, _ state: UploadState) -> (code: StaticString, text: ByteString)? {
        if state.conversation.isPortrait { return nil }
        if state.conversation.isDirect {
            return isMutedByServer(turn.session) ? ("CANNOT_SEND", "You are muted on this server") : nil
        }
        guard let channel = channel(of: state, turn.me), may(turn.me, know: .existence, of: channel) else {
            return ("INVALID_TARGET", "There is no such channel any more")
        }
        return reasonNotToShow(turn, in: channel).map { ("CANNOT_SEND", $0) }
    }

    // MARK: Checked

    mutating func finished(_ number: Int64, _ outcome: ImageOutcome) {
        guard case .imageEnd(let end)? = pending.removeValue(forKey: number) else { return }
        let isThere = sessions.contains(end.session) && sessions[end.session].stage == .registered
        guard let upload = images.uploads[end.upload], isThere, let user = sessions[end.session].user,
            users[user].uid == upload.state.uid
        else {
            // Who sent it is gone: END may be said again.
            images.uploads[end.upload]?.stage = .open
            if case .stored(let hash, _, _, _, _) = outcome {
                effects.images.append(.settle(upload: end.upload, hash: hash, isStored: false))
            }
            return answerWaiting(end.session, label: end.label) { _, _ in }
        }
        answerWaiting(end.session, label: end.label) { world, turn in
            if case .stored(let hash, let type, let size, let width, let height) = outcome {
                var image = ImageState(
                    id: end.upload, uid: upload.state.uid, conversation: upload.state.conversation, type: type,
                    name: upload.state.name, reference: upload.state.reference)
                image.hash = hash
                image.size = size
                image.width = width
                image.height = height
                world.post(turn, image, upload.state)
            } else {
                world.refuse(turn, outcome, upload.state)
            }
        }
    }

    private mutating func refuse(_ turn: Turn, _ outcome: ImageOutcome, _ state: UploadState) {
        let id = ImageID.text(state.id)
        switch outcome {
        case .storeFull, .failed: images.uploads[state.id]?.stage = .open
        default: dropUpload(state.id)
        }
        switch outcome {
        case .isOther(let type):
            let text: ByteString = "The bytes are \(type.name); nothing is kept"
            fail(turn, "TYPE_MISMATCH", text, about: [id, type.name])
        case .hashMismatch(let found):
            fail(turn, "HASH_MISMATCH", "What came has another SHA-256; nothing is kept", about: [id, found])
        case .broken(let why):
            fail(turn, "BAD_IMAGE", "This is no picture that can be shown: \(why). Nothing is kept", about: [id])
        case .tooLarge(let why):
            fail(turn, "TOO_LARGE", "The picture is too large: \(why). Nothing is kept", about: [id])
        case .storeFull(let reason):
            note(.warning, "a picture cannot be stored: \(reason)")
            fail(turn, "STORE_FULL", "The server cannot store this now; say IMG END again in a while", about: [id])
        case .failed(let reason):
            note(.warning, "a picture cannot be checked: \(reason)")
            fail(turn, "INTERNAL_ERROR", "The picture could not be checked; say IMG END again in a while", about: [id])
        case .stored: break
        }
    }

    // MARK: Posting

    private mutating func post(_ turn: Turn, _ given: ImageState, _ state: UploadState) {
        var image = given
        var refusal = reasonNotToPost(turn, state)
        if refusal == nil, !state.conversation.isDirect, !state.conversation.isPortrait,
            let channel = channel(of: state, turn.me), let why = paceExceeded(turn.me, in: channel, lines: 1)
        {
            refusal = ("CANNOT_SEND", why)
        }
        if let refusal {
            effects.images.append(.settle(upload: state.id, hash: image.hash, isStored: false))
            dropUpload(state.id)
            return fail(turn, refusal.code, refusal.text, about: [state.target])
        }
        if isStoreFailing {
            effects.images.append(.settle(upload: state.id, hash: image.hash, isStored: false))
            images.uploads[state.id]?.stage = .open
            return fail(turn, "STORE_FULL", refusalText, about: [state.target])
        }
        images.uploads[state.id] = nil
        effects.images.append(.settle(upload: state.id, hash: image.hash, isStored: true))
        if !users[turn.me].isKept { keep(turn.me) }
        users[turn.me].spoke = now.wall
        if state.conversation.isPortrait {
            image.time = now.wall
            let refusal = refusable(turn, state.target)
            save(.postImage(image, state))
            effects.images.append(.collect)
            setPortrait(turn, image)
            return done(turn, image, target: state.target, refusal: refusal)
        }
        let line = say(turn, &image, state)
        save(.postImage(image, state))
        done(turn, image, target: state.target, refusal: line.refusal)
    }

    private mutating func setPortrait(_ turn: Turn, _ image: ImageState) {
        changeAvatar(turn, portraitValue(image.id))
    }

    /// The message that members and receivers get.
    private mutating func say(_ turn: Turn, _ image: inout ImageState, _ state: UploadState) -> Outgoing {
        let text = ImageText.text(of: image, caption: state.caption)
        let tags = ImageText.tags(of: image, client: state.tags)
        let utterance = Utterance(kind: .privmsg, command: "PRIVMSG", text: text, tags: tags)
        let channel = state.conversation.isDirect ? nil : self.channel(of: state, turn.me)
        let receiver = correspondent(other(in: state.conversation, than: turn.me))
        let name = channel.map { channels[$0].name } ?? receiver.name
        var line = outgoing(from: turn.me, "PRIVMSG \(name) :\(text)")
        let room = textRoom(source: line.source, head: "PRIVMSG \(name)")
        if text.count > room {
            line.body = "PRIVMSG \(name)"
            line.multiline = Multiline(
                lines: Multiline.fit(Multiline.split(text), room: room), target: name, reference: nextReference())
        }
        line.tags = tags
        if let channel {
            (line.position, line.time) = record(.privmsg, by: turn.me, in: channel, tags: tags, text)
        } else {
            recordDirect(turn, utterance, to: receiver, &line)
        }
        image.position = line.position
        image.time = line.time
        line.refusal = refusable(turn, name)
        if let channel {
            relay(line, to: channel, except: turn.session)
        } else {
            relayDirect(turn, utterance, line, to: receiver)
        }
        echo(turn, utterance, line)
        if channel == nil { tellAbsence(turn, receiver) }
        return line
    }

    func other(in pair: Conversation, than user: UserID) -> UID {
        UID(number: pair.a == users[user].uid.number ? pair.b : pair.a)
    }
}
