package import Bytes

/// The kinds of pictures that are taken. The numbers are the database's.
package enum ImageType: UInt8, Sendable, CaseIterable {
    case jpeg = 1
    case png
    case gif
    case webp

    /// `image/jpeg`
    package var name: ByteString {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .gif: "image/gif"
        case .webp: "image/webp"
        }
    }

    package init?(_ name: ByteView) {
        let found = ImageType.allCases.first { type in type.name.withView { $0.equalsIgnoringCase(name) } }
        guard let found else { return nil }
        self = found
    }
}

/// An image's number in text: `i` and twelve characters.
package enum ImageID {
    package static func text(_ number: Int64) -> ByteString { "i\(Base32.encode(UInt64(number), width: 12))" }

    package static func number(_ text: ByteView) -> Int64? {
        guard text.count == 13, text[0] == 0x69, let number = Base32.decode(text.dropFirst()), number != 0 else {
            return nil
        }
        return Int64(number)
    }
}

extension Conversation {
    /// Where an identity's photo belongs, which is no conversation: it has one picture, at position 0.
    package static func portrait(_ uid: UID) -> Conversation { Conversation(a: uid.number, b: -1) }

    package var isPortrait: Bool { b == -1 }
}

/// A picture that is whole, beside its bytes: those are a file named by their hash, which others may share.
package struct ImageState: Sendable, Equatable {
    package var id: Int64
    package var uid: UID
    package var conversation: Conversation
    /// Of the message that shows it; 0: it is a portrait.
    package var position: Int64 = 0
    /// Milliseconds since 1970.
    package var time: Int64 = 0
    /// SHA-256 of what is stored, 64 hexadecimal digits.
    package var hash: ByteString = ""
    package var type: ImageType
    package var size: Int64 = 0
    package var width: Int64 = 0
    package var height: Int64 = 0
    /// Of the file, as its author called it; empty: none.
    package var name: ByteString
    /// The author's own mark: the same mark is the same picture. Empty: none.
    package var reference: ByteString
    /// The message's text as it is now; in answers alone.
    package var text: ByteString = ""

    package init(
        id: Int64, uid: UID, conversation: Conversation, type: ImageType, name: ByteString = "",
        reference: ByteString = ""
    ) {
        self.id = id
        self.uid = uid
        self.conversation = conversation
        self.type = type
        self.name = name
        self.reference = reference
    }
}

/// A picture on its way in. Its bytes so far are a file named by its id.
package struct UploadState: Sendable, Equatable {
    package var id: Int64
    package var uid: UID
    package var conversation: Conversation
    /// How the author called the place: a channel, a nick, `*`.
    package var target: ByteString
    /// As claimed.
    package var type: ImageType
    /// Bytes that will be sent; 0: not told.
    package var size: Int64 = 0
    /// SHA-256 of what will be sent; empty: not told.
    package var hash: ByteString = ""
    package var name: ByteString = ""
    package var reference: ByteString = ""
    package var caption: ByteString = ""
    /// Client-only tags of the message to come.
    package var tags: ByteString = ""
    /// Bytes that came; not in the row, the file has them.
    package var received: Int64 = 0

    package init(id: Int64, uid: UID, conversation: Conversation, target: ByteString, type: ImageType) {
        self.id = id
        self.uid = uid
        self.conversation = conversation
        self.target = target
        self.type = type
    }
}

/// A question about pictures to the reader; the answer carries the same number.
package struct ImageQuestion: Sendable, Equatable {
    package enum Wanted: Sendable, Equatable {
        /// What the identity stored since a time (milliseconds), what the server stores, the picture with this mark.
        case allowance(UID, reference: ByteString, since: Int64)
        case image(Int64)
        /// Newest first, older than a position and not older than another.
        case list(Conversation, before: Int64, oldest: Int64)
    }

    package var number: Int64
    package var wanted: Wanted
    package var limit: Int

    package init(number: Int64, wanted: Wanted, limit: Int = 1) {
        self.number = number
        self.wanted = wanted
        self.limit = limit
    }
}

package struct ImageAnswer: Sendable, Equatable {
    package var number: Int64
    package var images: [ImageState] = []
    /// Bytes.
    package var storedByIdentity: Int64 = 0
    package var storedByServer: Int64 = 0
    /// Nothing older is in the part that was asked for.
    package var isComplete = true
    package var failure: String?

    package init(number: Int64) { self.number = number }
}

/// What the thread of the image files is to do, in this order.
package enum ImageOrder: Sendable, Equatable {
    case append(upload: Int64, at: Int64, [UInt8])
    /// Everything came: check it, clean it, store it. Answered by `ImageEvent.finished`.
    case finish(ImageFinish)
    /// The picture's row was committed, or its batch refused: what came is needed no more, or the file is not.
    case settle(upload: Int64, hash: ByteString, isStored: Bool)
    case discard(upload: Int64)
    /// Answered by `ImageEvent.bytes`.
    case read(number: Int64, hash: ByteString, at: Int64, count: Int)
    /// Removes files that no row names any more.
    case collect

    /// The batch that it came with was refused.
    package var refused: ImageOrder {
        guard case .settle(let upload, let hash, _) = self else { return self }
        return .settle(upload: upload, hash: hash, isStored: false)
    }
}

package struct ImageFinish: Sendable, Equatable {
    package var number: Int64
    package var upload: Int64
    package var type: ImageType
    package var size: Int64
    /// Of what was sent; empty: not told.
    package var hash: ByteString
    package var megapixels: Int

    package init(number: Int64, upload: Int64, type: ImageType, size: Int64, hash: ByteString, megapixels: Int) {
        self.number = number
        self.upload = upload
        self.type = type
        self.size = size
        self.hash = hash
        self.megapixels = megapixels
    }
}

/// What the thread of the image files tells.
package enum ImageEvent: Sendable, Equatable {
    case written(upload: Int64, upTo: Int64)
    /// Nothing behind `upTo` is there.
    case notWritten(upload: Int64, upTo: Int64, reason: String)
    case finished(number: Int64, ImageOutcome)
    case bytes(number: Int64, [UInt8], failure: String?)
}

package enum ImageOutcome: Sendable, Equatable {
    case stored(hash: ByteString, ImageType, size: Int64, width: Int64, height: Int64)
    case isOther(ImageType)
    case hashMismatch(found: ByteString)
    case broken(String)
    case tooLarge(String)
    case storeFull(reason: String)
    case failed(reason: String)
}
