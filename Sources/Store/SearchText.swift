import Bytes
import Chat
import Wire

/// How texts and questions look to FTS5. Both go the same way, so that what was said is found by what was said.
enum SearchText {
    /// Nothing is stored but the index. Letters are folded and stripped of their accents.
    static let options = "text, marks, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2'"

    // MARK: Texts

    /// The words of a message, without formatting. Scripts that are written without spaces are set apart letter by
    /// letter, as the tokenizer finds no words in them: a run of them is then a phrase, and found within a longer one.
    /// (FTS5's trigrams would triple the index and find no word of two letters, of which Chinese has most.)
    static func words(of text: ByteString) -> ByteString {
        if text.bytes.allSatisfy({ 0x20...0x7E ~= $0 }) { return text }
        var words: [UInt8] = []
        words.reserveCapacity(text.count + text.count / 2)
        text.withView { view in
            var at = view.first == 1 ? view.firstIndex(of: 0x20) ?? 1 : 0
            while at < view.count {
                let start = at
                if view[at] < 0x20 {
                    at = endOfFormatting(view, at)
                    // A line's end ends a word, formatting does not.
                    if view[start] == 0x0A { words.append(0x20) }
                    continue
                }
                guard let scalar = UTF8Check.scalar(view, at: &at) else {
                    at = max(at, start + 1)
                    continue
                }
                let isApart = standsApart(scalar)
                if isApart { words.append(0x20) }
                words.append(contentsOf: view[start..<at].raw)
                if isApart { words.append(0x20) }
            }
        }
        return ByteString(words)
    }

    /// Behind a control character with the colours that it takes.
    private static func endOfFormatting(_ view: ByteView, _ start: Int) -> Int {
        func digits(_ from: Int, _ most: Int, _ isOne: (UInt8) -> Bool) -> Int {
            var end = from
            while end < view.count, end < from + most, isOne(view[end]) { end += 1 }
            return end
        }
        switch view[start] {
        case 3:
            let end = digits(start + 1, 2, ASCII.isDigit)
            guard end > start + 1, end + 1 < view.count, view[end] == 0x2C, ASCII.isDigit(view[end + 1]) else {
                return end
            }
            return digits(end + 1, 2, ASCII.isDigit)
        case 4:
            let end = digits(start + 1, 6) { ASCII.isDigit($0) || 0x61...0x66 ~= ASCII.lower($0) }
            return end == start + 7 ? end : start + 1
        default: return start + 1
        }
    }

    /// Thai to Burmese, Khmer, kana, Han, Hangul.
    private static func standsApart(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF,
            0x4E00...0x9FFF, 0xAC00...0xD7AF, 0xF900...0xFAFF, 0xFF66...0xFF9D, 0x20000...0x3FFFF:
            true
        default: false
        }
    }

    // MARK: Marks

    /// Where a message stands and who said it, as words of their own column: the index leaps to those of one
    /// conversation as it does to those of one word.
    static func marks(_ conversation: Conversation, uid: Int64, source: ByteString) -> ByteString {
        let nick = source.withView { mark(nick: ByteString(Source($0).nick)) }
        return conversation.isDirect
            ? "d\(conversation.a) d\(conversation.b) u\(uid) \(nick)" : "c\(conversation.a) u\(uid) \(nick)"
    }

    /// In hex, as nicks have characters that divide words.
    private static func mark(nick: ByteString) -> ByteString {
        "n\(Hex.encode(nick.withView { Names.fold($0) }.bytes))"
    }

    // MARK: Questions

    /// In FTS5's query language. Whatever people typed stands in quotes.
    static func expression(_ question: SearchQuestion) -> ByteString {
        var expression: ByteString = "marks : (\(places(question)))"
        switch question.author {
        case .anyone: break
        case .uid(let uid): expression = "marks : \"u\(uid.number)\" AND \(expression)"
        case .nick(let nick): expression = "marks : \"\(mark(nick: nick))\" AND \(expression)"
        }
        let terms = terms(question.text)
        return terms.isEmpty ? expression : "text : (\(terms)) AND \(expression)"
    }

    private static func places(_ question: SearchQuestion) -> ByteString {
        var places: [ByteString] = question.places.keys.map { place in
            place.isDirect ? "(\"d\(place.a)\" AND \"d\(place.b)\")" : "\"c\(place.a)\""
        }
        if question.direct != .none || places.isEmpty { places.append("\"d\(question.direct.number)\"") }
        return places.dropFirst().reduce(places[0]) { "\($0) OR \($1)" }
    }

    /// `deploy "next week" serv*` → `"deploy" "next week" "serv"*`: all of them. FTS5 passes over what has no letter.
    private static func terms(_ text: ByteString) -> ByteString {
        var terms: [ByteString] = []
        var isQuoted = false
        text.withView { view in
            view.split(0x22) { part in
                if isQuoted {
                    if !part.isEmpty { terms.append(quoted(part)) }
                } else {
                    part.split(0x20) { word in if !word.isEmpty { terms.append(term(word)) } }
                }
                isQuoted.toggle()
            }
        }
        return terms.reduce("") { $0.isEmpty ? $1 : "\($0) \($1)" }
    }

    private static func term(_ word: ByteView) -> ByteString {
        guard word.last == 0x2A, word.count > 1 else { return quoted(word) }
        return "\(quoted(word.prefix(word.count - 1)))*"
    }

    private static func quoted(_ words: ByteView) -> ByteString { "\"\(self.words(of: ByteString(words)))\"" }
}
