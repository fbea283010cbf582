import Bytes
import Chat
import TestKit
import Wire

/// Several connections and what they do, one step a line: a digit and what that connection sends, or a capital letter.
///
///     0NICK ana        connection 0 sends a line (it connects with its first one)
///     D0 E0 X0 O0      connection 0 is gone; has ended its input; typed Ctrl-D; sent a line that was too long
///     W5               time passes: 2^5 * 100 milliseconds
///     F R              the store is full; has room again
///     S                the message of the day, limits and operators are read again
func fuzzWorld(_ input: ByteView) {
    let play = Play()
    var steps = 0
    input.split(0x0A) { step in
        steps += 1
        if steps <= 200 { play.run(step) }
    }
    play.finish()
}

private final class Play {
    private let script = WorldScript(Play.configure)
    private var clients = [ScriptClient?](repeating: nil, count: 8)

    private static func configure(_ settings: inout Settings) {
        settings.operators = [OperatorSettings(name: "root", hash: "hash:secret", kind: "admin")]
        settings.gateways = [GatewaySettings(name: "web", hash: "hash:word", hosts: ["192.0.2."])]
        settings.motd = ["hello"]
        settings.limits.whowas = 4
        settings.limits.listEntries = 3
        settings.limits.channelsPerUser = 3
        settings.channelExpiry = 60_000
    }

    func run(_ step: ByteView) {
        guard let kind = step.first else { return }
        let rest = step.dropFirst()
        switch kind {
        case 0x30...0x37: send(Int(kind - 0x30), rest)
        case 0x44: with(rest) { $0.drop() }
        case 0x45: with(rest) { script.apply(.inputEnded($0.id)) }
        case 0x58: with(rest) { script.apply(.endOfTransmission($0.id)) }
        case 0x4F: with(rest) { script.apply(.overlong($0.id, rest.dropFirst())) }
        case 0x57: script.advance(100 << Int64(min(rest.decimal() ?? 0, 14)))
        case 0x46: script.isStoreFull = true
        case 0x52:
            script.isStoreFull = false
            script.apply(.storeRecovered)
        case 0x53:
            var settings = script.world.settings
            settings.motd = []
            settings.limits.targets = 2
            script.apply(.reloaded(settings))
        default: return
        }
        checkOutput()
    }

    /// What the framer would give: no line is empty, longer than the limits or holds a terminator.
    private func send(_ index: Int, _ line: ByteView) {
        let client = clients[index] ?? connect(index)
        let line = line.prefix(LineLimits.message - 2)
        if line.isEmpty || line[0] == 0x20 || line.contains(0x0D) || line.contains(0) { return }
        if client.isClosed || script.world.isInputBlocked(client.id) { return }
        script.apply(.line(client.id, line))
    }

    private func connect(_ index: Int) -> ScriptClient {
        let client = script.connect(
            address: index % 2 == 0 ? "192.0.2.1" : "2001:db8::1", host: "h\(index).test", isTLS: index % 3 == 0)
        clients[index] = client
        return client
    }

    /// The connection that is named; afterwards its number is free for another.
    private func with(_ name: ByteView, _ body: (ScriptClient) -> Void) {
        guard let digit = name.first, 0x30...0x37 ~= digit, let client = clients[Int(digit - 0x30)] else { return }
        body(client)
        if client.isClosed { forget(Int(digit - 0x30)) }
    }

    private func forget(_ index: Int) {
        checkOutput()
        clients[index] = nil
    }

    /// Everybody leaves, then the server stops.
    func finish() {
        checkOutput()
        for index in clients.indices {
            clients[index]?.drop()
            checkOutput()
        }
        script.apply(.stopping)
    }

    /// Whole lines of UTF-8 within the limits of IRCv3 message-tags, "Size limit".
    private func checkOutput() {
        for client in clients {
            guard let bytes = client?.readBytes(), !bytes.isEmpty else { continue }
            bytes.withUnsafeBytes { check(lines: ByteView($0)) }
        }
    }

    private func check(lines: ByteView) {
        Fuzz.check(UTF8Check.isValid(lines), "not UTF-8: \(lines)")
        Fuzz.check(lines.last == 0x0A, "half a line: \(lines)")
        lines.prefix(lines.count - 1).split(0x0A) { line in
            Fuzz.check(line.last == 0x0D && line.firstIndex(of: 0x0D) == line.count - 1, "line end: \(line)")
            Fuzz.check(!line.contains(0), "zero byte: \(line)")
            let tags = line.first == 0x40 ? (line.firstIndex(of: 0x20) ?? line.count) + 1 : 0
            Fuzz.check(tags <= LineLimits.serverTags, "\(tags) bytes of tags: \(line)")
            // Whoever asked for longer ones.
            if line.hasPrefix("IMG DATA ") { return }
            Fuzz.check(line.count - tags + 1 <= LineLimits.message, "\(line.count - tags + 1) bytes: \(line)")
        }
    }
}
