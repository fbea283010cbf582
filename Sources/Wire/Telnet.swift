import Bytes

/// The telnet command parser (RFC 854), fed byte by byte and holding nothing but where it is.
struct Telnet: Sendable {
    enum State: Sendable {
        case text
        case command
        case option(verb: UInt8)
        /// Bytes left before an endless subnegotiation is taken for text again.
        case subnegotiation(left: UInt16)
        case subnegotiationCommand(left: UInt16)
    }

    enum Outcome {
        /// The byte is text; so is the IAC before it, which was none.
        case text
        case taken
        case answer(verb: UInt8, option: UInt8)
        /// Interrupt process or erase line: what was typed of this line is void.
        case dropLine
    }

    static let iac: UInt8 = 0xFF
    private static let will: UInt8 = 0xFB
    private static let wont: UInt8 = 0xFC
    private static let `do`: UInt8 = 0xFD
    private static let dont: UInt8 = 0xFE
    private static let begin: UInt8 = 0xFA
    private static let end: UInt8 = 0xF0
    private static let interrupt: UInt8 = 0xF4
    private static let eraseLine: UInt8 = 0xF8
    private static let longestSubnegotiation: UInt16 = 1024

    private(set) var state = State.text

    var isInText: Bool {
        if case .text = state { return true }
        return false
    }

    var isAtCommand: Bool {
        if case .command = state { return true }
        return false
    }

    /// An IAC was read in text.
    mutating func start() { state = .command }

    /// The next byte of a sequence.
    mutating func take(_ byte: UInt8) -> Outcome {
        switch state {
        case .text: return .text
        case .command: return command(byte)
        case .option(let verb):
            state = .text
            // We agree to nothing: a wish gets its refusal, a refusal is what we have already (RFC 854).
            if verb == Self.will { return .answer(verb: Self.dont, option: byte) }
            if verb == Self.do { return .answer(verb: Self.wont, option: byte) }
            return .taken
        case .subnegotiation(let left):
            if byte == Self.iac {
                state = .subnegotiationCommand(left: left)
            } else {
                state = left > 0 ? .subnegotiation(left: left - 1) : .text
            }
            return .taken
        case .subnegotiationCommand(let left):
            if byte == Self.end {
                state = .text
                return .taken
            }
            if byte < 0xF0 || byte == Self.iac {
                state = left > 0 ? .subnegotiation(left: left - 1) : .text
                return .taken
            }
            return command(byte)
        }
    }

    private mutating func command(_ byte: UInt8) -> Outcome {
        switch byte {
        case 0..<0xF0:
            // No telnet command: 0xFF of another encoding. It stays, to be refused as invalid UTF-8.
            state = .text
            return .text
        case Self.will...Self.dont:
            state = .option(verb: byte)
            return .taken
        case Self.begin:
            state = .subnegotiation(left: Self.longestSubnegotiation)
            return .taken
        default:
            state = .text
            return byte == Self.interrupt || byte == Self.eraseLine ? .dropLine : .taken
        }
    }

    /// Appends the text in `raw`, without sequences and without NUL (a no-operation to telnet, forbidden in IRC).
    /// `isWhole`: no more of this line comes, so an IAC at its end began no sequence.
    static func appendText(of raw: ByteView, isWhole: Bool, to buffer: inout ByteBuffer) {
        var telnet = Telnet()
        var index = 0
        while index < raw.count {
            let byte = raw[index]
            if telnet.isInText {
                if byte == iac {
                    telnet.start()
                } else if byte != 0 {
                    buffer.append(byte: byte)
                }
            } else if case .text = telnet.take(byte) {
                buffer.append(byte: iac)
                continue
            }
            index += 1
        }
        if isWhole, telnet.isAtCommand { buffer.append(byte: iac) }
    }
}
