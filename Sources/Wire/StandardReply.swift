package import Bytes

/// IRCv3 standard-replies: `FAIL COMMAND CODE context… :text`, without source and line end.
package enum StandardReplies {
    package static func fail(
        _ command: ByteString, _ code: StaticString, _ context: [ByteString], _ text: ByteString
    ) -> ByteString { reply("FAIL", command, code, context, text) }

    package static func fail(
        _ command: ByteView, _ code: StaticString, _ context: [ByteString], _ text: ByteString
    ) -> ByteString { reply("FAIL", ByteString(command), code, context, text) }

    package static func warn(
        _ command: ByteString, _ code: StaticString, _ context: [ByteString], _ text: ByteString
    ) -> ByteString { reply("WARN", command, code, context, text) }

    package static func note(
        _ command: ByteString, _ code: StaticString, _ context: [ByteString], _ text: ByteString
    ) -> ByteString { reply("NOTE", command, code, context, text) }

    private static func reply(
        _ type: StaticString, _ command: ByteString, _ code: StaticString, _ context: [ByteString], _ text: ByteString
    ) -> ByteString {
        var line: ByteString = "\(type) \(sendable(command)) \(code)"
        for word in context { line = "\(line) \(sendable(word))" }
        return "\(line) :\(text)"
    }

    /// Clients choose some of these words; one that would break the line's grammar or is not UTF-8 is told as `*`.
    private static func sendable(_ word: ByteString) -> ByteString {
        word.withView { Message.isMiddle($0) && UTF8Check.isValid($0) } ? word : "*"
    }
}
