/// The two ways in (see docs/PROTOCOL.md, Coming in), and what tests do with a session again and again.
extension LineClient {
    /// Registers as an IRC client with these capabilities and reads the burst to its end (376 or 422).
    @discardableResult
    package func register(_ nick: String, capabilities: [String] = [], password: String? = nil) throws -> [ReceivedLine]
    {
        try send("CAP LS 302")
        if let password { try send("PASS \(password)") }
        try send("NICK \(nick)", "USER \(nick) 0 * :The one called \(nick)")
        if !capabilities.isEmpty {
            try send("CAP REQ :\(capabilities.joined(separator: " "))")
            try expect("CAP", "ACK")
        }
        try send("CAP END")
        let greeting = try lines(until: " 001 ")
        return greeting + (try endOfBurst())
    }

    /// Comes in as a person does: `NICK` and nothing else.
    @discardableResult
    package func enter(_ nick: String) throws -> [ReceivedLine] {
        try send("NICK \(nick)")
        let greeting = try lines(until: " 001 ")
        return greeting + (try sync())
    }

    /// Joins and reads up to the end of the list of names.
    @discardableResult
    package func join(_ channel: String) throws -> [ReceivedLine] {
        try send("JOIN \(channel)")
        return try lines(until: " 366 ", channel)
    }

    /// Sends a message and proves, by the echo or by order, that the server has it.
    package func say(_ channel: String, _ text: String) throws {
        try send("PRIVMSG \(channel) :\(text)")
        try sync()
    }

    /// The lines of the batch that answers the command labeled `label`, or the single line that does.
    package func labeled(_ label: String) throws -> [ReceivedLine] {
        let first = try expect("label=\(label)")
        guard first.command == "BATCH", let reference = first.parameters.first?.dropFirst() else { return [first] }
        return [first] + (try batch(String(reference)))
    }

    /// The lines up to the end of the batch, nested batches included.
    package func batch(_ reference: String) throws -> [ReceivedLine] {
        try lines(until: "BATCH -\(reference)")
    }

    private func endOfBurst() throws -> [ReceivedLine] {
        var lines: [ReceivedLine] = []
        while let line = try next() {
            lines.append(line)
            if line.command == "376" || line.command == "422" { return lines }
        }
        throw DoorError("\(label): the connection ended during registration")
    }
}
