import Bytes
import Images
import Net
import Server
import Wire

/// What one input is done with. It must not trap, must come to an end, and holds what `check` says.
struct Target: Sendable {
    let name: String
    let run: @Sendable (UnsafeRawBufferPointer) -> Void

    /// For parsers that need no more than the bytes.
    init(_ name: String, _ parse: @escaping @Sendable (ByteView) -> Void) {
        self.name = name
        run = { parse(ByteView($0)) }
    }
}

let targets = [
    Target("framer", fuzzFramer), Target("message", fuzzMessage), Target("mode", fuzzModes), Target("mask", fuzzMasks),
    Target("capability", fuzzCapabilities), Target("text", fuzzText), Target("configuration", fuzzConfiguration),
    Target("proxy", fuzzProxy), Target("websocket", fuzzWebSocket), Target("world", fuzzWorld),
    Target("image", fuzzImage), Target("data", fuzzData),
]

/// What does not hold ends the process: that is how libFuzzer learns of it and keeps the input.
func check(_ holds: Bool, _ what: @autoclosure () -> String) {
    if !holds { fatalError(what()) }
}

/// What comes in pieces says the same as what comes at once. The first byte is the size of the pieces.
private func fuzzFramer(_ input: ByteView) {
    guard let size = input.first, size > 0 else { return }
    let bytes = input.dropFirst()
    let pieces = steps(of: bytes, pieces: Int(size))
    let whole = steps(of: bytes, pieces: .max)
    check(pieces == whole, "pieces of \(size): \(pieces), at once: \(whole)")
}

/// What telnet is answered stands apart: it does not wait for the line that it came in.
private func steps(of bytes: ByteView, pieces: Int, takesData: Bool = false) -> [[ByteString]] {
    var framer = Framer()
    framer.takesData = takesData
    var scratch = ByteBuffer()
    var steps: [ByteString] = []
    var answers: [ByteString] = []
    var offset = 0
    var end = 0
    var isEnded = false
    while !isEnded {
        end = min(bytes.count, pieces == .max ? .max : end + pieces)
        isEnded = end == bytes.count
        reading: while true {
            let before = offset
            switch framer.next(bytes.prefix(end), at: &offset, ended: isEnded, scratch: &scratch) {
            case .line(let line):
                let most = LineLimits.clientTags + 2 + LineLimits.extended
                check(!line.isEmpty && line.count <= most, "a line of \(line.count) bytes")
                check(!line.contains(0) && !line.contains(0x0A) && !line.contains(0x0D), "a terminator within")
                steps.append("line \(line)")
                parse(line)
            // Where it is noticed depends on the pieces, and so how much of its beginning is told.
            case .tooLong(let head):
                check(head.count <= LineLimits.message, "a beginning of \(head.count) bytes")
                steps.append("long")
            case .fragment(let part):
                check(takesData, "data that nobody takes")
                let before = steps.last.flatMap { $0.withView { $0.hasPrefix("data ") } ? steps.removeLast() : nil }
                steps.append("\(before ?? "data ")\(part)")
            case .answer(let answer): answers.append(ByteString(answer))
            case .endOfTransmission: steps.append("end")
            case .needMore: break reading
            }
            check(offset >= before && offset <= end, "moved from \(before) to \(offset) of \(end)")
        }
    }
    return [steps, answers]
}

/// As frames in pieces and at once, and as the request before them. The first byte is the size of the pieces.
private func fuzzWebSocket(_ input: ByteView) {
    guard let size = input.first, size > 0 else { return }
    let bytes = input.dropFirst()
    let pieces = decoded(bytes, pieces: Int(size))
    let whole = decoded(bytes, pieces: max(bytes.count, 1))
    check(pieces == whole, "pieces of \(size): \(pieces), at once: \(whole)")
    if case .accepted(let accepted) = WebSocketHandshake.read(bytes, origins: []) {
        check(accepted.length <= bytes.count && !accepted.response.contains(0), "a request of \(accepted.length)")
    }
    var out = ByteBuffer()
    WebSocketWriter.append(lines: bytes, isText: true, to: &out)
    check(out.count <= 4 * bytes.count + 4, "\(bytes.count) bytes became \(out.count)")
}

private func decoded(_ bytes: ByteView, pieces: Int) -> [String] {
    var decoder = WebSocketDecoder(limit: 1 << 10)
    var text = ByteBuffer()
    var at = 0
    while at < bytes.count {
        let piece = bytes[at..<min(at + pieces, bytes.count)]
        let before = text.count
        let events = decoder.decode(piece, into: &text)
        check(text.count <= before + piece.count + 1, "\(piece.count) bytes became \(text.count - before)")
        switch events.last {
        case .close, .violation: return [text.view.description, "\(events.last!)"]
        case .ping, nil: at += pieces
        }
    }
    return [text.view.description]
}

/// The framer gives no line with one of these.
private func fuzzMessage(_ line: ByteView) {
    if !line.contains(0), !line.contains(0x0A), !line.contains(0x0D) { parse(line) }
}

private func parse(_ line: ByteView) {
    guard let message = Message(parsing: line) else { return }
    check(!message.command.isEmpty, "no command")
    for i in 0...message.parameterCount { _ = message.parameter(i).map { Message.isMiddle($0) } }
    _ = message.last
    _ = message.rest(from: 0)
    _ = message.rest(from: message.parameterCount)
    let source = Source(message.source)
    check(source.nick.count + source.user.count + source.host.count <= message.source.count, "a source grew")
    Tags.each(message.tags) { tag in
        _ = Tags.isValidKey(tag.key)
        let value = Tags.unescape(tag.rawValue)
        let again = value.withView { Tags.escape($0) }.withView { Tags.unescape($0) }
        check(again == value, "tag value \(value) became \(again)")
    }
    _ = Tags.isValid(message.tags)
    _ = Tags.value(of: "label", in: message.tags)
}

/// The first word is of signs and letters, the others are parameters.
private func fuzzModes(_ input: ByteView) {
    let words = input.parts(0x20)
    guard let modes = words.first else { return }
    let parsed = ModeParser.parse(
        modes, parameters: { $0 + 1 < words.count ? words[$0 + 1] : nil },
        kinds: { letter in
            switch letter {
            case 0x62, 0x65, 0x49: .list
            case 0x6F, 0x76, 0x6B: .always
            case 0x6C: .onSet
            case 0x69, 0x6D, 0x6E: .flag
            default: nil
            }
        })
    check(parsed.count <= modes.count, "more changes than letters")
    let changes = parsed.compactMap { mode -> AppliedMode? in
        guard case .change(let change) = mode else { return nil }
        return AppliedMode(
            adding: change.adding, letter: change.letter, parameter: change.parameter.map { ByteString($0) })
    }
    let lines = ModeFormatter.lines(changes, maxBytes: 400, maxParameters: 6)
    let longest = changes.map { ($0.parameter?.count ?? 0) + 3 }.max() ?? 0
    for line in lines { check(line.count <= max(400, longest), "a line of \(line.count) bytes") }
}

/// A mask, a line end, a text.
private func fuzzMasks(_ input: ByteView) {
    let end = input.firstIndex(of: 0x0A) ?? input.count
    let (mask, text) = (input.prefix(end), input.dropFirst(end + 1))
    _ = Mask.matches(mask, text)
    let full = Mask.normalize(mask)
    let again = full.withView { Mask.normalize($0) }
    check(full == again, "mask \(full) became \(again)")
    full.withView { _ = Mask.matches($0, text) }
    check(Mask.matches(ByteView("*"), text), "* is not everything")
    let isWild = mask.contains(0x2A) || mask.contains(0x3F) || mask.contains(0x5C)
    check(isWild || Mask.matches(mask, mask), "\(mask) does not match itself")
    // Everything that names are made of.
    let key = NameKey(text)
    check(Names.fold(text).withView { NameKey($0) } == key, "\(text) has two keys")
    _ = (Names.isValidNick(text), Names.isValidChannel(text), Names.isValidUser(text))
    check(Names.sanitizeUser(text).withView { Names.isValidUser($0) }, "no user name: \(Names.sanitizeUser(text))")
    _ = nearestWord(text, among: ["JOIN", "PART", "PRIVMSG"])
}

private func fuzzCapabilities(_ list: ByteView) {
    guard let request = CapabilityRequest(parsing: list) else { return }
    check(request.enable.isDisjoint(with: request.disable), "on and off")
    let after = request.applied(to: [.batch, .sasl])
    check(Capabilities.all.isSuperset(of: after), "a capability that is not on offer")
    let names = Capabilities.list(after, values: false)
    let same = names.withView { CapabilityRequest(parsing: $0)?.applied(to: []) }
    check(same == after, "\(names) is not what is on")
}

/// Times, durations, base32, base64, UTF-8, editing keys.
private func fuzzText(_ text: ByteView) {
    if let ms = Times.parse(text) {
        let written = Times.serverTime(ms)
        check(written.withView { Times.parse($0) } == ms, "\(text) is \(ms), written \(written)")
    }
    if let ms = Times.duration(text) { check(ms >= 0, "a duration of \(ms)") }
    if text.count >= 8 {
        let number = text.raw.loadUnaligned(as: Int64.self)
        _ = (Times.serverTime(number), Times.short(number), Times.rfc(number), Times.clock(number))
        let word = Base32.encode(UInt64(bitPattern: number) >> 4, width: 12)
        check(word.withView { Base32.decode($0) } == UInt64(bitPattern: number) >> 4, "base32 of \(number)")
    }
    if let number = Base32.decode(text) {
        check(Base32.encode(number, width: text.count).equals(text), "base32 \(text) is \(number)")
    }
    if let bytes = Base64.decode(text) { check(Base64.encode(bytes).equals(text), "base64 \(text) is \(bytes)") }
    let bytes = [UInt8](text.raw)
    check(Base64.encode(bytes).withView { Base64.decode($0) } == bytes, "base64 of \(bytes)")
    let isValid = UTF8Check.isValid(text)
    check(isValid == (String(validating: bytes, as: UTF8.self) != nil), "UTF-8 \(bytes)")
    for limit in [0, 1, text.count / 2, text.count] {
        let end = UTF8Check.scalarBoundary(text, atMost: limit)
        check(end <= limit && (!isValid || UTF8Check.isValid(text.prefix(end))), "cut at \(end) of \(limit)")
    }
    var edited = ByteBuffer()
    if LineEditing.apply(text, into: &edited), isValid { check(UTF8Check.isValid(edited.view), "editing broke UTF-8") }
    _ = (text.decimal(), text.trimmed)
}

private func fuzzProxy(_ bytes: ByteView) {
    guard case .complete(let length, let source) = ProxyHeader(bytes) else { return }
    check(length <= min(bytes.count, ProxyHeader.longest), "\(length) of \(bytes.count) bytes")
    if let source { check(PeerAddress(source.text.string, port: source.port) == source, "\(source.text)") }
}

private func fuzzConfiguration(_ text: ByteView) {
    do {
        let loaded = try Configuration.load(text: text.description, file: "fuzz.toml")
        check(!loaded.configuration.listeners.isEmpty, "nowhere to listen")
    } catch {
        check(!error.problems.isEmpty, "refused without a problem")
        for problem in error.problems { check(!problem.description.contains("\n"), "two lines: \(problem)") }
    }
}

/// What is clean stays as it is, and what is made of a picture is not much more than what it was made of.
private func fuzzImage(_ bytes: ByteView) {
    guard let image = cleaned(bytes) else { return }
    check(
        image.width > 0 && image.height > 0 && image.width * image.height <= 40_000_000,
        "\(image.width)x\(image.height)")
    check(image.bytes.count <= bytes.count + 2, "\(bytes.count) bytes became \(image.bytes.count)")
    let again = image.bytes.withUnsafeBytes { cleaned(ByteView($0)) }
    check(again == image, "a clean picture was cleaned")
}

private func cleaned(_ bytes: ByteView) -> CleanImage? {
    do throws(ImageFault) { return try cleanImage(bytes, ImageLimits(pixels: 40_000_000)) } catch { return nil }
}

/// What is taken as data is the same whatever the pieces are.
private func fuzzData(_ input: ByteView) {
    guard let size = input.first, size > 0 else { return }
    let bytes = input.dropFirst()
    let pieces = steps(of: bytes, pieces: Int(size), takesData: true)
    let whole = steps(of: bytes, pieces: .max, takesData: true)
    check(pieces == whole, "pieces of \(size): \(pieces), at once: \(whole)")
}
