import Chat
import Testing

/// What every row of the command table owes to people: help that fits and can be typed, a source, a test.
@Suite struct CommandTests {
    static let names = CommandTable.rows.map { "\($0.name)" }

    private func row(_ name: String) throws -> Command {
        try #require(CommandTable.rows.first { "\($0.name)" == name })
    }

    @Test("The table has commands, each once, in capitals")
    func table() {
        #expect(Self.names.count > 40)
        #expect(Set(Self.names).count == Self.names.count)
        #expect(Self.names.allSatisfy { $0 == $0.uppercased() })
    }

    @Test("Every command has help that begins with how it is written and fits a screen", arguments: names)
    func help(name: String) throws {
        let help = try row(name).help.map { "\($0)" }
        #expect(help.count >= 2)
        #expect(help.first?.contains(name) == true)
        // A terminal of 80 by 24, and before each line what makes it a numeric.
        #expect(help.reduce(1) { $0 + ($1.count + 40 + 79) / 80 } <= 24)
    }

    @Test("Every command's help has an example that can be typed", arguments: names)
    func example(name: String) throws {
        let examples = try row(name).help.map { "\($0)" }.filter { $0.contains("xample") }
        #expect(examples.contains { line in Self.names.contains { line.contains($0) } })
    }

    @Test("Every command names its specification", arguments: names)
    func source(name: String) throws {
        #expect("\(try row(name).source)".count > 3)
    }

    @Test("Every command is sent by a test", arguments: names)
    func tested(name: String) throws {
        let tests = try Repository.sources.get().filter { $0.path.hasPrefix("Tests/") && !$0.path.contains("Tidy") }
        #expect(tests.contains { file in file.lines.contains { $0.contains(name) } })
    }
}
