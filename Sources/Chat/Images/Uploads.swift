package import Bytes
import Wire

/// A picture on its way in, as World keeps it.
struct Upload {
    enum Stage {
        case open
        /// END was said: it is being checked.
        case finishing
        /// It was kept long enough; the id is still known for a while.
        case expired
    }

    var state: UploadState
    var stage = Stage.open
    /// Bytes that are in its file; `state.received` are on their way there.
    var written: Int64
    /// Up to where its sender was told so.
    var acknowledged: Int64
    /// Bytes that may come, and the code for more.
    var most: Int64
    var excess: StaticString = "TOO_LARGE"
    /// The connection that sends it, or that heard of it last.
    var session: ConnectionID?
    /// That connection is not read until more is written.
    var isWindowFull = false
    /// The last data ended in padding: nothing may follow.
    var isPadded = false
    /// Data were lost on the way to the disk; RESUME says from where on.
    var isStalled = false
    var isPasted = false
    /// Wall milliseconds.
    var expires: Int64

    init(_ state: UploadState, most: Int64, expires: Int64) {
        self.state = state
        written = state.received
        acknowledged = state.received
        self.most = most
        self.expires = expires
    }
}

/// A connection in whose input a picture is pasted.
struct Paste {
    /// 0: it was refused or broken off, and what still comes of it is nothing.
    var upload: Int64 = 0
    var decoder = Base64Stream()
}

/// A picture on its way out.
struct Transfer {
    var image: Int64
    var hash: ByteString
    var next: Int64
    var end: Int64
    /// Bytes in a line.
    var chunk: Int
    var isAsked = false
}

/// All that World knows of pictures on their way.
struct ImageTables {
    var uploads: [Int64: Upload] = [:]
    /// By slot.
    var pastes: [Int32: Paste] = [:]
    /// By slot: what `*` means as an id.
    var newest: [Int32: Int64] = [:]
    var newestOf: [UID: Int64] = [:]
    /// By slot, one at a time, the first one first.
    var transfers: [Int32: [Transfer]] = [:]
    /// Connections whose transfer goes on when what they were sent has left.
    var hungry: ContiguousArray<ConnectionID> = []
    /// Wall milliseconds when an upload may have expired.
    var nextExpiry = Int64.max
}

extension World {
    // MARK: For the core

    package var hasPastes: Bool { !images.pastes.isEmpty }

    package func isPasting(_ id: ConnectionID) -> Bool { images.pastes[id.index] != nil }

    /// What comes from it is a picture: it is read in turns with others of its kind.
    package func sendsImage(_ id: ConnectionID) -> Bool { sessions.contains(id) && sessions[id].sendsImage }

    /// Connections for which `Event.room` is wanted as soon as their send queue is nearly empty.
    package var awaitingRoom: ContiguousArray<ConnectionID> {
        if watch.listings.isEmpty { return images.hungry }
        return images.hungry + watch.listings.values.map(\.session).filter { !images.hungry.contains($0) }
    }

    // MARK: Uploads

    mutating func load(_ stored: [UploadState]) {
        for state in stored {
            let most = Int64(settings.images.accountSize)
            images.uploads[state.id] = Upload(state, most: most, expires: now.wall + settings.images.idle)
        }
        // The clock is not known yet: the first event counts the time from there.
        if !stored.isEmpty { images.nextExpiry = 0 }
    }

    mutating func touch(_ id: Int64) {
        let due = now.wall + settings.images.idle
        images.uploads[id]?.expires = due
        images.nextExpiry = min(images.nextExpiry, due)
    }

    /// An idle upload is removed; its id is remembered as long again.
    mutating func expireUploads() {
        images.nextExpiry = .max
        for (id, upload) in images.uploads {
            if upload.expires == settings.images.idle {
                touch(id)
            } else if upload.expires <= now.wall, upload.stage == .expired {
                images.uploads[id] = nil
            } else if upload.expires <= now.wall, upload.stage == .open {
                dropUpload(id)
                var remembered = upload
                remembered.stage = .expired
                images.uploads[id] = remembered
                touch(id)
                note(.info, "upload \(ImageID.text(id)) was idle and is removed")
            } else {
                images.nextExpiry = min(images.nextExpiry, max(upload.expires, now.wall + 60_000))
            }
        }
    }

    /// Row, file and everything that waits for it.
    mutating func dropUpload(_ id: Int64) {
        guard let upload = images.uploads.removeValue(forKey: id) else { return }
        for (slot, paste) in images.pastes where paste.upload == id { images.pastes[slot] = Paste() }
        save(.dropUpload(id))
        effects.images.append(.discard(upload: id))
        guard let session = upload.session, sessions.contains(session) else { return }
        sessions[session].sendsImage = false
        if upload.isWindowFull { openWindow(session) }
    }

    /// Its rows go with the identity's.
    mutating func eraseImages(of uid: UID) {
        for (id, upload) in images.uploads where upload.state.uid == uid { dropUpload(id) }
        effects.images.append(.collect)
    }

    mutating func openWindow(_ session: ConnectionID) {
        guard sessions.contains(session) else { return }
        sessions[session].isWindowFull = false
        if !isInputBlocked(session) { effects.resumes.append(session) }
    }

    /// The connection is gone: what it sent stays, what it was sent does not go on.
    mutating func forgetImages(of id: ConnectionID) {
        images.pastes[id.index] = nil
        images.newest[id.index] = nil
        images.transfers[id.index] = nil
        images.hungry.removeAll { $0 == id }
        for (number, upload) in images.uploads where upload.session == id {
            images.uploads[number]?.session = nil
            images.uploads[number]?.isWindowFull = false
        }
    }

    // MARK: What the store refused

    /// Changes of pictures are not tried again like others: a picture without its message must not be. What was being
    /// sent is as it was before.
    mutating func takeBackImages(_ changes: [Change]) -> [Change] {
        var lost: [ByteString] = []
        var others: [Change] = []
        for change in changes {
            switch change {
            case .saveUpload(let state):
                images.uploads[state.id] = nil
                for (slot, paste) in images.pastes where paste.upload == state.id { images.pastes[slot] = Paste() }
                effects.images.append(.discard(upload: state.id))
            case .postImage(let image, let state):
                images.uploads[state.id] = Upload(state, most: state.received, expires: 0)
                touch(state.id)
                lost.append(portraitValue(image.id))
            default: others.append(change)
            }
        }
        if lost.isEmpty { return others }
        return others.filter { change in
            guard case .setMetadata(.identity(let uid), _, let value?) = change, lost.contains(value) else {
                return true
            }
            if let user = identities[uid] { users[user].metadata[MetadataKeys.avatar] = nil }
            return false
        }
    }
}
