import Bytes
import Wire

/// The bytes of a picture as they come in: decoded, counted, handed to the disk, acknowledged.
extension World {
    mutating func imageData(_ turn: Turn) {
        guard let upload = upload(turn, turn[1]) else { return refuseUnknownImage(turn, turn[1]) }
        var id: ByteString { ImageID.text(upload.state.id) }
        if upload.stage != .open || upload.isPasted {
            return fail(turn, "NOT_OPEN", "It takes no more data", about: [id])
        }
        if upload.isStalled { return refuseStalled(turn, id) }
        let offset = Int64(turn[2].decimal(limit: .max) ?? -1)
        guard turn[2] == "*" || offset == upload.state.received else {
            let next = upload.state.received
            return fail(turn, "BAD_OFFSET", "The next byte is number \(next)", about: [id, "\(next)"])
        }
        let text = turn[3]
        guard !upload.isPadded, let bytes = Base64.decode(text), !bytes.isEmpty else {
            let why: ByteString = "Each line is base64 by itself, with padding in the last one only"
            return fail(turn, "BAD_BASE64", why, about: [id, "\(upload.state.received)"])
        }
        images.uploads[upload.state.id]?.session = turn.session
        images.uploads[upload.state.id]?.isPadded = text.last == 0x3D
        take(turn, bytes, for: upload.state.id)
    }

    mutating func refuseStalled(_ turn: Turn, _ id: ByteString) {
        fail(turn, "STORE_FULL", "Data were lost on the way to the disk; IMG RESUME \(id) goes on", about: [id])
    }

    /// False: it is too much, and the upload is closed.
    @discardableResult
    mutating func take(_ turn: Turn, _ bytes: [UInt8], for id: Int64) -> Bool {
        guard let upload = images.uploads[id] else { return false }
        let received = upload.state.received + Int64(bytes.count)
        if received > upload.most {
            dropUpload(id)
            fail(
                turn, upload.excess, "These are more than the \(upload.most) bytes that may come; nothing is kept",
                about: [ImageID.text(id), "\(upload.most)"])
            return false
        }
        if upload.state.size != 0, received > upload.state.size {
            dropUpload(id)
            refuseSizeMismatch(turn, upload.state, received)
            return false
        }
        append(bytes, to: id, at: upload.state.received)
        images.uploads[id]?.state.received = received
        touch(id)
        sessions[turn.session].sendsImage = true
        if received - upload.written > Int64(settings.images.window) {
            images.uploads[id]?.isWindowFull = true
            sessions[turn.session].isWindowFull = true
        }
        return true
    }

    mutating func refuseSizeMismatch(_ turn: Turn, _ state: UploadState, _ received: Int64) {
        fail(
            turn, "SIZE_MISMATCH", "\(state.size) bytes were announced; nothing is kept",
            about: [ImageID.text(state.id), "\(received)"])
    }

    /// Lines that follow each other become one order.
    private mutating func append(_ bytes: [UInt8], to id: Int64, at offset: Int64) {
        guard case .append(id, let start, var gathered)? = effects.images.last else {
            return effects.images.append(.append(upload: id, at: offset, bytes))
        }
        effects.images.removeLast()
        gathered += bytes
        effects.images.append(.append(upload: id, at: start, gathered))
    }

    // MARK: What the disk says

    mutating func imageTold(_ event: ImageEvent) {
        switch event {
        case .written(let id, let upTo): written(id, upTo)
        case .notWritten(let id, let upTo, let reason): notWritten(id, upTo, reason)
        case .finished(let number, let outcome): finished(number, outcome)
        case .bytes(let number, let bytes, let failure): send(bytes, failure, for: number)
        }
    }

    private mutating func written(_ id: Int64, _ upTo: Int64) {
        guard var upload = images.uploads[id], upload.stage != .expired else { return }
        upload.written = upTo
        let limits = settings.images
        let isWindowOpen = upload.isWindowFull && upload.state.received - upTo <= Int64(limits.window - limits.every)
        if isWindowOpen { upload.isWindowFull = false }
        let isDue = upTo - upload.acknowledged >= Int64(limits.every) || upTo == upload.state.size
        let tells = isDue && !upload.isPasted && upTo > upload.acknowledged
        if isDue { upload.acknowledged = upTo }
        images.uploads[id] = upload
        guard let session = upload.session, sessions.contains(session) else { return }
        if isWindowOpen { openWindow(session) }
        if tells, sessions[session].stage == .registered {
            effects.outbox.deliver(line("IMG ACK \(ImageID.text(id)) \(upTo)"), to: session)
        }
    }

    /// `:server <body>`, for what is not the answer to a command.
    private mutating func line(_ body: ByteString) -> LineRef {
        let start = effects.outbox.mark
        effects.outbox.write(":\(settings.serverName) \(body)" as ByteString)
        return effects.outbox.endLine(from: start)
    }

    private mutating func notWritten(_ id: Int64, _ upTo: Int64, _ reason: String) {
        guard let upload = images.uploads[id], upload.stage == .open, !upload.isStalled else { return }
        note(.warning, "data of a picture cannot be written: \(reason)")
        images.uploads[id]?.state.received = upTo
        images.uploads[id]?.written = upTo
        images.uploads[id]?.isStalled = true
        images.uploads[id]?.isWindowFull = false
        guard let session = upload.session else { return }
        let text: ByteString = "The server cannot store this now; IMG RESUME goes on from \(upTo)"
        answerImage(session) { world, turn in
            world.fail(turn, "STORE_FULL", text, about: [ImageID.text(id), "\(upTo)"])
        }
        if upload.isWindowFull { openWindow(session) }
    }

    // MARK: Resuming and giving up

    mutating func resumeImage(_ turn: Turn) {
        guard let upload = upload(turn, turn[1]) else {
            guard let number = imageNumber(turn[1], turn.session) else { return refuseUnknownImage(turn, turn[1]) }
            return askForImages(turn, .image(number), .resume, given: turn[1])
        }
        guard upload.stage == .open else {
            let text: ByteString = upload.stage == .expired ? "It was idle for too long" : "It is being checked"
            return fail(turn, "NOT_OPEN", text, about: [ImageID.text(upload.state.id)])
        }
        resume(turn, upload.state.id)
    }

    /// A paste that broke off goes on by DATA.
    private mutating func resume(_ turn: Turn, _ id: Int64) {
        for (slot, paste) in images.pastes where paste.upload == id { images.pastes[slot] = Paste() }
        if let before = images.uploads[id]?.session, images.uploads[id]?.isWindowFull == true { openWindow(before) }
        images.uploads[id]?.isPasted = false
        images.uploads[id]?.isStalled = false
        images.uploads[id]?.isPadded = false
        images.uploads[id]?.isWindowFull = false
        touch(id)
        if let upload = images.uploads[id] { ready(turn, upload, isResumed: true) }
    }

    mutating func abortImage(_ turn: Turn) {
        guard let upload = upload(turn, turn[1]) else { return refuseUnknownImage(turn, turn[1]) }
        let id = ImageID.text(upload.state.id)
        guard upload.stage == .open else { return fail(turn, "NOT_OPEN", "It cannot be aborted now", about: [id]) }
        dropUpload(upload.state.id)
        // Who says so knows that nothing more of it comes.
        if images.pastes[turn.session.index]?.upload == 0 { images.pastes[turn.session.index] = nil }
        tell(turn.session, "IMG ABORTED \(id) :You aborted it; nothing is kept")
    }
}
