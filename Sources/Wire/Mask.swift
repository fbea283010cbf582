package import Bytes

/// Masks of `nick!user@host` (Modern IRC, "Wildcard Expressions").
package enum Mask {
    /// Whether the whole of `text` is what `mask` describes: `*` is anything, `?` one scalar, `\*` and `\?` themselves;
    /// a `\` before anything else is a `\`, as nicks may have one. ASCII case is ignored.
    ///
    /// Only the last `*` is ever tried again, so the worst case is the product of the lengths.
    package static func matches(_ mask: ByteView, _ text: ByteView) -> Bool {
        var m = 0
        var t = 0
        var retry: (mask: Int, text: Int)?
        while true {
            if m < mask.count, mask[m] == 0x2A {
                m += 1
                if m == mask.count { return true }
                retry = (m, t)
                continue
            }
            if t == text.count, m == mask.count { return true }
            if m < mask.count, t < text.count, matchOne(mask, &m, text, &t) { continue }
            guard let last = retry, last.text < text.count else { return false }
            let next = afterScalar(text, last.text)
            retry = (last.mask, next)
            m = last.mask
            t = next
        }
    }

    /// The full form of what was typed: `nick`, `user@host`, `nick!user`, a host (it has a dot or a colon); empty parts
    /// become `*`, runs of `*` one. Extended masks (`a:account`, `~a:account`) stay as they are.
    package static func normalize(_ mask: ByteView) -> ByteString {
        if isExtended(mask) { return ByteString(mask) }
        let mark = mask.firstIndex(of: 0x21)
        let behind = mask.dropFirst(mark.map { $0 + 1 } ?? 0)
        let at = behind.raw.lastIndex(of: 0x40)
        var nick = mark.map { mask.prefix($0) } ?? .empty
        var user = behind.prefix(at ?? behind.count)
        var host = at.map { behind.dropFirst($0 + 1) } ?? .empty
        if mark == nil, at == nil {
            let isHost = mask.contains(0x2E) || mask.contains(0x3A)
            (nick, user, host) = isHost ? (.empty, .empty, mask) : (mask, .empty, .empty)
        }
        var full: [UInt8] = []
        appendPart(nick, to: &full)
        full.append(0x21)
        appendPart(user, to: &full)
        full.append(0x40)
        appendPart(host, to: &full)
        return ByteString(full)
    }

    /// `x:…` or `~x:…`, with one letter.
    package static func isExtended(_ mask: ByteView) -> Bool {
        let plain = mask.first == 0x7E ? mask.dropFirst() : mask
        return plain.count >= 2 && ASCII.isLetter(plain[0]) && plain[1] == 0x3A
    }

    /// One character of the mask against one of the text; nothing moves when they differ.
    private static func matchOne(_ mask: ByteView, _ m: inout Int, _ text: ByteView, _ t: inout Int) -> Bool {
        if mask[m] == 0x3F {
            m += 1
            t = afterScalar(text, t)
            return true
        }
        let escapes = mask[m] == 0x5C && m + 1 < mask.count && (mask[m + 1] == 0x2A || mask[m + 1] == 0x3F)
        let literal = escapes ? m + 1 : m
        guard ASCII.lower(mask[literal]) == ASCII.lower(text[t]) else { return false }
        m = literal + 1
        t += 1
        return true
    }

    private static func afterScalar(_ text: ByteView, _ start: Int) -> Int {
        var end = start + 1
        while end < text.count, end - start < 4, UTF8Check.isContinuation(text[end]) { end += 1 }
        return end
    }

    private static func appendPart(_ part: ByteView, to full: inout [UInt8]) {
        if part.isEmpty {
            full.append(0x2A)
            return
        }
        var endsInStar = false
        for i in 0..<part.count {
            let isStar = part[i] == 0x2A && !(i > 0 && part[i - 1] == 0x5C)
            if isStar, endsInStar { continue }
            endsInStar = isStar
            full.append(part[i])
        }
    }
}
