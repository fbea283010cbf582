package import Bytes

/// What proves a password without telling it.
package struct Credentials: Sendable, Equatable {
    /// `$argon2id$…`
    package var hash: ByteString
    /// `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`; see `ScramKeys`.
    package var scram: ByteString

    package init(hash: ByteString, scram: ByteString) {
        self.hash = hash
        self.scram = scram
    }
}

/// What is kept of an account. It belongs to one identity, for good.
package struct AccountState: Sendable, Equatable {
    /// The numbers are the database's.
    package enum Standing: UInt8, Sendable {
        /// Its e-mail address is not proved yet.
        case unverified
        case open
        /// Gone; the name stays taken.
        case closed
    }

    package var uid: UID
    /// As it was registered.
    package var name: ByteString
    /// What the name looks like (`Ports.skeleton`).
    package var look: ByteString
    package var credentials: Credentials
    /// Empty: none.
    package var email: ByteString
    /// Seconds since 1970.
    package var created: Int64
    package var standing: Standing
    /// Why operators suspended it; empty: they did not.
    package var suspension: ByteString = ""
    /// What proves the code that was sent by mail; empty: none is awaited.
    package var code: ByteString = ""
    /// Seconds since 1970.
    package var codeExpires: Int64 = 0
    /// SHA-256 of client certificates that may log in, in hex.
    package var certificates: [ByteString] = []

    package init(
        uid: UID, name: ByteString, look: ByteString, credentials: Credentials, email: ByteString, created: Int64,
        standing: Standing
    ) {
        self.uid = uid
        self.name = name
        self.look = look
        self.credentials = credentials
        self.email = email
        self.created = created
        self.standing = standing
    }
}

/// A change of one account. Each touches only what it is about, so that two of them never undo each other.
package enum AccountChange: Sendable, Equatable {
    case add(AccountState)
    case verify(UID)
    /// The code that led to it is used up.
    case setCredentials(UID, Credentials)
    case setCode(UID, ByteString, expires: Int64)
    /// By the folded name; no reason lifts it.
    case suspend(name: ByteString, reason: ByteString)
    /// Everything but the name is forgotten.
    case close(UID)
    /// The name is free again.
    case remove(UID)
    case addCertificate(UID, ByteString)
    case removeCertificate(UID, ByteString)
}

/// What World knows of every account at all times: that the name is taken, and what looks like it.
package struct AccountName: Sendable, Equatable {
    package var name: ByteString
    package var look: ByteString
    /// `none`: nobody has it any more.
    package var uid: UID
    /// Seconds since 1970 when the name is free again unless it is verified; 0: it is.
    package var expires: Int64

    package init(name: ByteString, look: ByteString, uid: UID, expires: Int64 = 0) {
        self.name = name
        self.look = look
        self.uid = uid
        self.expires = expires
    }
}

/// A mail to be sent, answered by `Event.mailed` with the same number.
package struct Mail: Sendable {
    package var number: Int64
    package var to: ByteString
    package var subject: ByteString
    package var text: [ByteString]

    /// An errand goes on with the answer.
    package var isAwaited: Bool { number != 0 }

    package init(number: Int64, to: ByteString, subject: ByteString, text: [ByteString]) {
        self.number = number
        self.to = to
        self.subject = subject
        self.text = text
    }
}
