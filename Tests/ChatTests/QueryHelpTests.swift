import Bytes
import Chat
import TestKit
import Testing

@Suite struct QueryHelpTests {
    @Test func helpFitsAScreenAndNamesTheCommands() {
        let person = WorldScript { $0.welcomeChannel = "#cats" }.connect()
        let lines = person.ask("HELP")
        #expect(lines.count <= 22)
        #expect(lines.first?.hasPrefix(":parley.test 704 * * :") == true)
        #expect(lines.last?.hasPrefix(":parley.test 706 * * :") == true)
        #expect(lines.dropFirst().dropLast().allSatisfy { $0.hasPrefix(":parley.test 705 * * :") })
        #expect(lines.contains { $0.contains("JOIN #cats ") })
        let words = Set(lines.joined(separator: " ").split(separator: " "))
        for command in ["NICK", "JOIN", "PRIVMSG", "QUIT", "WHO", "AWAY", "IDENTITY", "OPER"] {
            #expect(words.contains(Substring(command)), "\(command)")
        }
    }

    @Test func everyCommandExplainsItself() {
        let ana = WorldScript().client("ana")
        for row in CommandTable.rows {
            let lines = ana.ask("HELP \(row.name)")
            #expect(lines.count >= 3 && lines.count <= 22, "\(row.name)")
            #expect(lines[0].hasPrefix(":parley.test 704 ana \(row.name) :"))
            #expect(lines.last == ":parley.test 706 ana \(row.name) :End of HELP")
            #expect(lines.contains { $0.contains("Example: ") })
        }
    }

    @Test func helpopIsHelp() {
        let ana = WorldScript().client("ana")
        #expect(ana.ask("HELPOP privmsg") == ana.ask("HELP /PRIVMSG"))
    }

    @Test func anUnknownTopicNamesTheNearest() {
        let ana = WorldScript().client("ana")
        #expect(ana.ask("HELP JION") == [":parley.test 524 ana JION :No such command. Did you mean JOIN?"])
        #expect(
            ana.ask("HELP thisisnothing") == [
                ":parley.test 524 ana thisisnothing :No help available on this topic. HELP lists all commands"
            ])
    }

    @Test func aClientRegistersFirst() {
        let client = WorldScript().connect()
        _ = client.ask("CAP LS 302")
        #expect(client.ask("HELP") == [":parley.test 451 * :You have not registered"])
    }
}
