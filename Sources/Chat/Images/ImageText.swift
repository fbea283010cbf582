import Bytes
import Wire

/// How a picture is told in words and in tags.
enum ImageText {
    private static var first: StaticString { "parley.chat/img=" }

    /// `[image] cat.jpg (image/jpeg, 47 KiB, 800x600)`
    static func head(of image: ImageState) -> ByteString {
        let name: ByteString = image.name.isEmpty ? "" : "\(image.name) "
        return "[image] \(name)(\(image.type.name), \(size(image.size)), \(image.width)x\(image.height))"
    }

    static func text(of image: ImageState, caption: ByteString) -> ByteString {
        caption.isEmpty ? head(of: image) : "\(head(of: image)) – \(caption)"
    }

    /// What stands behind the head; empty: nothing does.
    static func caption(of image: ImageState) -> ByteString {
        let head: ByteString = "\(head(of: image)) – "
        return image.text.bytes.starts(with: head.bytes) ? image.text[head.count..<image.text.count] : ""
    }

    /// The text of a picture's message with another caption: up to the bracket that closes what the server says of it.
    static func replacingCaption(_ text: ByteString, by caption: ByteString) -> ByteString {
        let bytes = text.bytes
        let mark = Array(") – ".utf8)
        let end = bytes.indices.first { bytes[$0...].starts(with: mark) }.map { $0 + 1 } ?? bytes.count
        return "\(text[0..<end]) – \(caption)"
    }

    private static func size(_ bytes: Int64) -> ByteString {
        if bytes < 1024 { return "\(bytes) B" }
        let kib = (bytes + 512) / 1024
        return kib < 10_000 ? "\(kib) KiB" : "\((kib + 512) / 1024) MiB"
    }

    /// The message's own tags, before those of its author.
    static func tags(of image: ImageState, client: ByteString) -> ByteString {
        let own: ByteString =
            "\(first)\(ImageID.text(image.id));parley.chat/img-type=\(image.type.name);parley.chat/img-size=\(image.size);parley.chat/img-dim=\(image.width)x\(image.height);parley.chat/img-sha256=\(image.hash)"
        return client.isEmpty ? own : "\(own);\(client)"
    }

    static func isImage(_ tags: ByteString) -> Bool { tags.withView { $0.hasPrefix(first) } }

    /// A file's name without folders, control characters and what else could be taken for something else in the text.
    static func name(_ given: ByteString, limit: Int) -> ByteString {
        let bytes = given.bytes.split(whereSeparator: { $0 == 0x2F || $0 == 0x5C }).last ?? []
        let plain = ByteString(bytes.filter { $0 >= 0x20 && $0 != 0x7F && $0 != 0x28 && $0 != 0x29 })
        return plain.withView { view in
            let trimmed = view.trimmed
            return ByteString(trimmed.prefix(UTF8Check.scalarBoundary(trimmed, atMost: limit)).trimmed)
        }
    }

    /// A name as one word of a line; `*`: none.
    static func word(_ name: ByteString) -> ByteString {
        name.isEmpty ? "*" : name.withView { Tags.escape($0) }
    }

    /// `IMG META …`
    static func meta(_ image: ImageState) -> ByteString {
        let caption = caption(of: image)
        let msgid: ByteString = image.position == 0 ? "*" : MessageID.text(image.position)
        let head: ByteString =
            "IMG META \(ImageID.text(image.id)) \(image.type.name) \(image.size) \(image.hash) \(image.width)x\(image.height) \(word(image.name)) \(msgid) \(image.uid.text) \(Times.serverTime(image.time))"
        return caption.isEmpty ? head : "\(head) :\(caption)"
    }
}

extension World {
    /// The value of the metadata key `avatar` for a photo that is stored here.
    func portraitValue(_ id: Int64) -> ByteString { "parley:\(ImageID.text(id))" }

    /// Whether the user's photo is one that is stored here.
    func hasPortrait(_ user: UserID) -> Bool {
        users[user].metadata[MetadataKeys.avatar]?.withView { $0.hasPrefix("parley:i") } ?? false
    }
}
