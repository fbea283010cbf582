import Bytes
import Wire

/// A picture that is pasted: after IMG PASTE the session's lines without a space are base64, until a dot alone.
extension World {
    /// True: the line belongs to what is pasted. With a space it is a command like any other.
    mutating func takeIntoPaste(_ id: ConnectionID, _ line: ByteView) -> Bool {
        guard images.pastes[id.index] != nil else { return false }
        let line = line.trimmed
        if line == "." {
            endPaste(id)
        } else if line.equalsIgnoringCase("ABORT") {
            abortPaste(id)
        } else if line.contains(0x20) {
            return false
        } else {
            feedPaste(id, line)
        }
        return true
    }

    /// Part of a line that may be of any length.
    mutating func receiveFragment(_ id: ConnectionID, _ part: ByteView) {
        guard sessions.contains(id), sessions[id].stage != .closing else { return }
        sessions[id].heard = now.steady
        feedPaste(id, part)
    }

    private mutating func feedPaste(_ id: ConnectionID, _ text: ByteView) {
        guard var paste = images.pastes.removeValue(forKey: id.index) else { return }
        guard paste.upload != 0, let upload = images.uploads[paste.upload], !upload.isStalled else {
            images.pastes[id.index] = Paste()
            return
        }
        guard let bytes = paste.decoder.decode(text) else {
            images.pastes[id.index] = Paste()
            return refusePaste(id, upload)
        }
        images.pastes[id.index] = paste
        if bytes.isEmpty { return }
        answerImage(id) { world, turn in world.take(turn, bytes, for: upload.state.id) }
    }

    private mutating func refusePaste(_ id: ConnectionID, _ upload: Upload) {
        let received = upload.state.received
        dropUpload(upload.state.id)
        answerImage(id) { world, turn in
            world.fail(
                turn, "BAD_BASE64", "This is no base64; nothing is kept, and what comes up to a dot alone is ignored",
                about: [ImageID.text(upload.state.id), "\(received)"])
        }
    }

    private mutating func endPaste(_ id: ConnectionID) {
        guard let paste = images.pastes.removeValue(forKey: id.index), paste.upload != 0,
            let upload = images.uploads[paste.upload], !upload.isStalled
        else { return }
        guard paste.decoder.isWhole else { return refusePaste(id, upload) }
        answerImage(id) { world, turn in world.finish(turn, upload.state.id, hash: "") }
    }

    private mutating func abortPaste(_ id: ConnectionID) {
        breakOffPaste(id, "You aborted it")
        images.pastes[id.index] = nil
    }

    /// What was pasted so far is gone; what still comes is ignored.
    mutating func breakOffPaste(_ id: ConnectionID, _ why: ByteString) {
        guard let paste = images.pastes[id.index] else { return }
        images.pastes[id.index] = Paste()
        guard paste.upload != 0 else { return }
        dropUpload(paste.upload)
        tell(id, "IMG ABORTED \(ImageID.text(paste.upload)) :\(why); nothing is kept")
    }
}
