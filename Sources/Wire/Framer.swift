package import Bytes

/// Finds the lines in what a connection sends. One per connection; it holds no bytes, the caller keeps those it has not
/// consumed. No byte is looked at twice before the line ends, whatever the reads are.
///
/// Lines end in LF, CR LF, CR or CR NUL: since empty lines and NUL count for nothing, the second byte needs no memory.
package struct Framer: Sendable {
    /// Bytes after `offset` that were read already.
    private var scanned: UInt32 = 0
    private var telnet = Telnet()
    private let speaksTelnet: Bool
    /// A message may be as long as `IMG DATA`.
    private let takesLong: Bool
    private var isFirst = true
    /// The line kept so far holds telnet sequences or NUL.
    private var isMixed = false
    private var isSwallowing = false
    /// Lines without a space are data and may have any length: they come as they arrive, as fragments.
    package var takesData = false
    /// The beginning of the present line has been given as a fragment.
    private var isInData = false

    /// `telnet`: false where 0xFF is nothing special (WebSocket). `long`: true for the operator's own socket, where a
    /// password may be longer than a line of IRC.
    package init(telnet: Bool = true, long: Bool = false) {
        speaksTelnet = telnet
        takesLong = long
    }

    package enum Step {
        /// Never empty, without terminator, leading spaces, CR, LF and NUL.
        case line(ByteView)
        /// A part of a line that is longer than a message may be, where data are taken; with no part of it a line end.
        case fragment(ByteView)
        /// A line over the limit, discarded as a whole and told once: the start of its message, without tags; at most
        /// `LineLimits.message` bytes, cut between scalars, empty where the tags alone were too long.
        case tooLong(ByteView)
        /// To be sent back at once.
        case answer([UInt8])
        /// 0x04 at the start of a line: Ctrl-D of a terminal, which sends no newline.
        case endOfTransmission
        /// Nothing complete: the caller keeps the input from `offset` on, and calls again with more behind it.
        case needMore
    }

    /// The next step; the caller goes on until `needMore`. `offset` moves behind what is consumed.
    ///
    /// `ended`: the peer sends no more, so an unterminated last line counts. Views are valid until `input` or `scratch`
    /// change.
    package mutating func next(
        _ input: ByteView, at offset: inout Int, ended: Bool, scratch: inout ByteBuffer
    ) -> Step {
        var at = min(offset + Int(scanned), input.count)
        if isInData, !takesData { stopData() }
        while at < input.count {
            if !telnet.isInText {
                if let step = readTelnet(input, from: &offset, at: &at, &scratch) { return step }
                continue
            }
            if at == offset, !isSwallowing, !isInData {
                at = Self.skipBlank(input, from: at)
                offset = at
                if at == input.count { break }
                if input[at] == 0x04 {
                    restart(at: at + 1, &offset)
                    return .endOfTransmission
                }
            }
            at = Self.firstSpecial(input, from: at)
            if at == input.count { break }
            switch input[at] {
            case 0x0A, 0x0D:
                let raw = input[offset..<at]
                at += 1
                offset = at
                if let step = endLine(raw, &scratch) { return step }
            case Telnet.iac:
                if speaksTelnet {
                    telnet.start()
                    isMixed = true
                }
                at += 1
            default:
                isMixed = true
                at += 1
            }
        }
        scanned = UInt32(truncatingIfNeeded: at - offset)
        return pause(input, at: &offset, ended: ended, scratch: &scratch)
    }

    /// The whole lines of data that come next, with their ends; none where anything else does. Short lines are left to
    /// `next`, for they may be words.
    package mutating func dataLines(_ input: ByteView, at offset: inout Int) -> ByteView {
        guard takesData, !isInData, !isSwallowing, telnet.isInText else { return .empty }
        var end = offset
        while true {
            let stop = Self.firstUngraphic(input, from: end)
            let feed = stop < input.count && input[stop] == 0x0D ? stop + 1 : stop
            guard stop - end >= 8, feed < input.count, input[feed] == 0x0A else { break }
            end = feed + 1
        }
        let lines = input[offset..<end]
        if !lines.isEmpty {
            isFirst = false
            restart(at: end, &offset)
        }
        return lines
    }

    /// One byte of a telnet sequence.
    private mutating func readTelnet(
        _ input: ByteView, from offset: inout Int, at: inout Int, _ scratch: inout ByteBuffer
    ) -> Step? {
        // With nothing typed before it, a sequence need not be kept; its IAC waits for the second byte.
        let isAlone = at == offset || (telnet.isAtCommand && at == offset + 1)
        let outcome = telnet.take(input[at])
        if case .text = outcome { return nil }
        at += 1
        if isAlone {
            offset = at
            isMixed = false
        }
        switch outcome {
        case .answer(let verb, let option):
            scanned = UInt32(truncatingIfNeeded: at - offset)
            return .answer([Telnet.iac, verb, option])
        case .dropLine:
            let step = droppedLine(input[offset..<at], &scratch)
            isSwallowing = false
            isInData = false
            if step != nil { isFirst = false }
            restart(at: at, &offset)
            return step
        case .taken, .text:
            return nil
        }
    }

    /// What was over the limit before its line was dropped has been told already where the line came in pieces.
    private func droppedLine(_ raw: ByteView, _ scratch: inout ByteBuffer) -> Step? {
        if isSwallowing { return nil }
        if takesData, let data = data(raw, &scratch) { return data.isEmpty ? nil : .fragment(data) }
        return excess(text(of: raw, &scratch), rawCount: raw.count).map { .tooLong($0) }
    }

    private mutating func restart(at position: Int, _ offset: inout Int) {
        offset = position
        scanned = 0
        isMixed = false
    }

    /// All input is read: the last line without end, a line that is too long already, or a wait.
    private mutating func pause(
        _ input: ByteView, at offset: inout Int, ended: Bool, scratch: inout ByteBuffer
    ) -> Step {
        let raw = input[offset..<input.count]
        if ended {
            offset = input.count
            return endLine(raw, &scratch) ?? .needMore
        }
        if isSwallowing {
            offset = input.count
            scanned = 0
            return .needMore
        }
        if takesData, !raw.isEmpty, let data = data(raw, &scratch) {
            // What telnet puts between is not cut in two.
            if !telnet.isInText, raw.count <= LineLimits.extended { return .needMore }
            isInData = true
            isFirst = false
            restart(at: input.count, &offset)
            return .fragment(data)
        }
        guard raw.count > LineLimits.message - 2, let head = excess(text(of: raw, &scratch), rawCount: raw.count) else {
            return .needMore
        }
        isSwallowing = true
        isFirst = false
        restart(at: input.count, &offset)
        return .tooLong(head)
    }

    private mutating func endLine(_ raw: ByteView, _ scratch: inout ByteBuffer) -> Step? {
        defer {
            scanned = 0
            isMixed = false
            if !raw.isEmpty { isFirst = false }
        }
        if isSwallowing {
            isSwallowing = false
            return nil
        }
        let data = takesData ? data(raw, &scratch) : nil
        isInData = false
        if let data { return data.isEmpty ? nil : .fragment(data) }
        let line = text(of: raw, &scratch)
        if line.isEmpty { return nil }
        if let head = excess(line, rawCount: raw.count) { return .tooLong(head) }
        return .line(line)
    }

    /// What has come of a line, if it is data that need not be kept until the line ends. The first bytes that no
    /// message has settle it, so that it is the same for whatever pieces the line comes in.
    private func data(_ raw: ByteView, _ scratch: inout ByteBuffer) -> ByteView? {
        guard isInData || raw.count > LineLimits.message - 2 else { return nil }
        let data = text(of: raw, &scratch)
        if isInData { return data }
        let head = data.prefix(LineLimits.message - 1)
        return head.count == LineLimits.message - 1 && !head.contains(0x20) ? data : nil
    }

    /// The line whose beginning was data ends where nobody takes data any more: the rest of it is nothing.
    private mutating func stopData() {
        isInData = false
        isSwallowing = true
    }

    /// The line without what telnet put between, byte-order mark and leading spaces.
    private func text(of raw: ByteView, _ scratch: inout ByteBuffer) -> ByteView {
        var line = raw
        if isMixed {
            scratch.clear()
            if speaksTelnet {
                Telnet.appendText(of: raw, isWhole: telnet.isInText, to: &scratch)
            } else {
                for i in 0..<raw.count where raw[i] != 0 { scratch.append(byte: raw[i]) }
            }
            line = scratch.view
        }
        if isInData { return line }
        if isFirst, line.hasPrefix("\u{FEFF}") { line = line.dropFirst(3) }
        return line.dropFirst(Self.skipBlank(line, from: 0))
    }

    /// The start of the message if the line is over the limits, which count tags and message apart.
    ///
    /// IRCv3 message-tags: 4094 bytes of tag data from a client between `@` and the space; Modern IRC: 512 bytes of
    /// message with CR LF. What telnet adds is bounded too, for it is kept until the line ends.
    private func excess(_ line: ByteView, rawCount: Int) -> ByteView? {
        let tagLimit = LineLimits.clientTags + 2
        var message = line
        if line.first == 0x40 {
            guard let space = line.prefix(tagLimit).firstIndex(of: 0x20) else {
                return line.count >= tagLimit || rawCount > tagLimit + 1024 ? .empty : nil
            }
            message = line.dropFirst(space + 1)
        }
        let limit = takesLong || Self.isImageData(message) ? LineLimits.extended : LineLimits.message - 2
        guard message.count > limit || rawCount > tagLimit + limit + 1024 else { return nil }
        return message.prefix(UTF8Check.scalarBoundary(message, atMost: LineLimits.message - 2))
    }

    /// The one command whose lines may be longer: `IMG DATA`, typed with a slash or not.
    private static func isImageData(_ message: ByteView) -> Bool {
        let command = message.first == 0x2F ? message.dropFirst() : message
        return command.prefix(9).equalsIgnoringCase("IMG DATA ")
    }

    private static func skipBlank(_ input: ByteView, from start: Int) -> Int {
        var at = start
        while at < input.count {
            switch input[at] {
            case 0x00, 0x0A, 0x0D, 0x20: at += 1
            default: return at
            }
        }
        return at
    }

    /// The first LF, CR, NUL or IAC, eight bytes at a step; `input.count` if there is none.
    private static func firstSpecial(_ input: ByteView, from start: Int) -> Int {
        var at = start
        let raw = input.raw
        while input.count - at >= 8 {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            let hits =
                zeroBytes(word) | zeroBytes(word ^ 0x0A0A_0A0A_0A0A_0A0A) | zeroBytes(word ^ 0x0D0D_0D0D_0D0D_0D0D)
                | zeroBytes(~word)
            if hits != 0 { return at + hits.trailingZeroBitCount / 8 }
            at += 8
        }
        while at < input.count {
            switch input[at] {
            case 0x00, 0x0A, 0x0D, Telnet.iac: return at
            default: at += 1
            }
        }
        return at
    }

    /// The first byte up to 0x20 or from 0x80 on; `input.count` if there is none.
    private static func firstUngraphic(_ input: ByteView, from start: Int) -> Int {
        var at = start
        let raw = input.raw
        while input.count - at >= 8 {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            let hits = ((word &- 0x2121_2121_2121_2121) | word) & 0x8080_8080_8080_8080
            if hits != 0 { return at + hits.trailingZeroBitCount / 8 }
            at += 8
        }
        while at < input.count, 0x21..<0x80 ~= input[at] { at += 1 }
        return at
    }

    /// The high bit of each zero byte; bits above the lowest one may be wrong.
    @inline(__always)
    private static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }
}
