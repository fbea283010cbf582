package import Bytes
import Wire

/// The message of the day.
package struct Motd: Sendable, Equatable {
    /// Bytes of a line; leaves room for `:server 372 nick :- `.
    package static let longestLine = 400
    /// Bytes of the file.
    package static let longestFile = 64 << 10

    /// Everything is filled in but `{users}`, which changes (Chat does, when it is told); never cut there. Empty: there
    /// is none (422).
    package let lines: [ByteString]

    package struct Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        package let description: String
    }

    package init(text: ByteString, server: String, network: String) {
        let filled = text.filled([
            ("{server}", ByteString(server)), ("{network}", ByteString(network)),
            ("{version}", ByteString(Version.string)),
        ])
        var lines: [ByteString] = []
        filled.withView { view in
            view.split(0x0A) { lines += Self.cut(Self.clean($0)) }
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        self.lines = lines
    }

    /// The configured file, or the built-in text. Refused when it cannot be read, is too long or no UTF-8.
    package static func load(_ configuration: Configuration, serverName: String) throws(Refusal) -> Motd {
        let path = configuration.server.motd
        let text = path.isEmpty ? builtIn : try read(path)
        return Motd(text: text, server: serverName, network: configuration.server.network)
    }

    /// As long as the numbers it stands for: seven digits.
    private static let users: ByteString = "{users}"

    private static func read(_ path: String) throws(Refusal) -> ByteString {
        let bytes: [UInt8]
        do {
            bytes = try Files.read(path, limit: longestFile)
        } catch {
            throw Refusal(description: "\(path): \(error.reason)")
        }
        let text = ByteString(bytes)
        guard text.withView(UTF8Check.isValid) else { throw Refusal(description: "\(path): is not UTF-8") }
        return text
    }
}

private let brace: UInt8 = 0x7B

extension Motd {
    /// Without carriage return and controls, but with IRC's formatting codes; a tab is four spaces.
    private static func clean(_ line: ByteView) -> ByteString {
        var out: [UInt8] = []
        for byte in line.raw {
            switch byte {
            case 0x09: out += [0x20, 0x20, 0x20, 0x20]
            case 0x02, 0x03, 0x04, 0x0F, 0x11, 0x16, 0x1D, 0x1E, 0x1F, 0x20..<0x7F, 0x80...: out.append(byte)
            default: break
            }
        }
        return ByteString(out)
    }

    /// In pieces that fit, at a space where one is near; scalars and `{users}` stay whole.
    private static func cut(_ line: ByteString) -> [ByteString] {
        line.withView { view in
            var pieces: [ByteString] = []
            var rest = view
            while rest.count > longestLine {
                let end = pieceEnd(rest)
                pieces.append(ByteString(rest.prefix(end)))
                rest = rest.dropFirst(rest[end] == 0x20 ? end + 1 : end)
            }
            return pieces + [ByteString(rest)]
        }
    }

    private static func pieceEnd(_ text: ByteView) -> Int {
        if let space = text.prefix(longestLine + 1).raw.lastIndex(of: 0x20), space > longestLine / 2 { return space }
        let end = UTF8Check.scalarBoundary(text, atMost: longestLine)
        let open = text.prefix(end).raw.lastIndex(of: brace) ?? 0
        let isInside = open > 0 && end - open < users.count && users.withView { text.dropFirst(open).hasPrefix($0) }
        return isInside ? open : end
    }
}
