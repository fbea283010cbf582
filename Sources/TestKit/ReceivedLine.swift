/// A line as the server sent it, taken apart (Modern IRC, Message Format). Deliberately not the server's own parser:
/// a mistake there must not hide itself.
package struct ReceivedLine: Sendable, CustomStringConvertible {
    /// Without the line end.
    package let bytes: [UInt8]
    /// The server ends its lines with CR LF.
    package let endsWithCRLF: Bool
    package let tags: [String: String]
    package let source: String
    package let command: String
    package let parameters: [String]
    /// The line without its tags.
    package let body: String

    package init(_ bytes: [UInt8], endsWithCRLF: Bool = true) {
        self.bytes = bytes
        self.endsWithCRLF = endsWithCRLF
        var rest = Substring(String(decoding: bytes, as: UTF8.self))
        var tags: [String: String] = [:]
        if rest.first == "@" {
            for tag in Self.word(&rest).dropFirst().split(separator: ";") {
                let pair = tag.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                tags[String(pair[0])] = pair.count > 1 ? Self.unescape(pair[1]) : ""
            }
        }
        self.tags = tags
        body = String(rest)
        source = rest.first == ":" ? String(Self.word(&rest).dropFirst()) : ""
        command = String(Self.word(&rest))
        var parameters: [String] = []
        while !rest.isEmpty {
            if rest.first == ":" {
                parameters.append(String(rest.dropFirst()))
                break
            }
            parameters.append(String(Self.word(&rest)))
        }
        self.parameters = parameters
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }
    package var description: String { text }
    /// The last parameter: the text of a message, the sentence of a numeric.
    package var last: String { parameters.last ?? "" }
    /// The nick of `nick!user@host`.
    package var nick: String { String(source.prefix { $0 != "!" }) }

    private static func word(_ rest: inout Substring) -> Substring {
        let word = rest.prefix { $0 != " " }
        rest = rest.dropFirst(word.count).drop { $0 == " " }
        return word
    }

    private static func unescape(_ value: Substring) -> String {
        var text = ""
        var escaped = false
        for character in value {
            switch (escaped, character) {
            case (false, "\\"):
                escaped = true
                continue
            case (true, ":"): text.append(";")
            case (true, "s"): text.append(" ")
            case (true, "r"): text.append("\r")
            case (true, "n"): text.append("\n")
            default: text.append(character)
            }
            escaped = false
        }
        return text
    }
}
