import Foundation
import TestKit
import Testing

/// docs/PROTOCOL.md, Guests: an identity without a name, and all ways back to it.
@Suite struct DoorGuestTests {
    let server: ServerProcess
    let channel = Door.unique("#guests")

    init() throws { server = try Door.shared.get() }

    // MARK: What it is

    @Test("Everyone has a uid: `u` and 12 lower-case base32 characters")
    func uid() throws {
        let person = try server.person(Door.unique("uid"))
        let note = try identity(person)
        #expect(note.parameters[1].wholeMatch(of: /u[a-z0-9]{12}/) != nil)
        #expect(note.parameters[2] == "*")
        #expect(note.parameters[3] == "1")
    }

    @Test("The token is told once, as a NOTICE after registration")
    func tokenIsTold() throws {
        let person = try server.connect()
        let lines = try person.enter(Door.unique("told"))
        let token = try token(person)
        #expect(lines.count { $0.command == "NOTICE" && $0.text.contains(token) } == 1)
    }

    @Test("An IRC client is told it as well, after its burst")
    func tokenIsToldToClients() throws {
        let client = try server.connect()
        try client.register(Door.unique("told"))
        let lines = try client.sync()
        let token = try token(client)
        #expect(lines.count { $0.command == "NOTICE" && $0.text.contains(token) } == 1)
    }

    // MARK: Ways back

    enum WayBack: CaseIterable { case pass, passAsClient, resume, sasl }

    @Test("Coming back restores the uid, the nick, the channels with the ranks held there", arguments: WayBack.allCases)
    func comingBack(way: WayBack) throws {
        let nick = Door.unique("back")
        let (uid, token) = try leaveBehind(nick)
        let watcher = try server.watcher(channel)
        let again = try comeBack(way, nick, uid: uid, token: token)
        try watcher.expect(":\(nick)!", " JOIN ")
        try again.send("NAMES \(channel)")
        try again.expect(" 353 ", "@\(nick)")
        #expect(try identity(again).parameters[1] == uid)
    }

    @Test("… also over TLS, and after a restart that nobody announced")
    func comingBackAfterCrash() throws {
        let server = try ServerProcess(ServerConfiguration(.plain, .tls))
        let first = try server.person("ana", in: "#cats")
        let uid = try identity(first).parameters[1]
        let token = try token(first)
        server.kill9()
        try server.start()
        let again = try server.connectTLS()
        try again.send("PASS guest:\(token)", "JOIN #dogs")
        try again.expect(" 001 ana ")
        try again.send("NAMES #cats")
        try again.expect(" 353 ", "@ana")
        #expect(try identity(again).parameters[1] == uid)
    }

    @Test("… and delivers what was missed, each line once")
    func missedLines() throws {
        let (_, token) = try leaveBehind(Door.unique("missed"))
        let other = try server.client(Door.unique("other"))
        try other.join(channel)
        try other.say(channel, "while you were away")
        let again = try server.connect()
        try again.send("PASS guest:\(token)", "ISON nobody")
        try again.expect(" 001 ")
        let lines = try again.lines(until: "while you were away") + again.sync()
        #expect(lines.count { $0.text.contains("while you were away") } == 1)
    }

    @Test("With PASS guest a NICK given wins if it is free")
    func nickGivenWins() throws {
        let (uid, token) = try leaveBehind(Door.unique("old"))
        let nick = Door.unique("new")
        let again = try server.connect()
        try again.send("PASS guest:\(token)", "NICK \(nick)")
        try again.expect(" 001 \(nick) ")
        #expect(try identity(again).parameters[1] == uid)
    }

    @Test("SASL ANONYMOUS makes a new guest")
    func anonymous() throws {
        let client = try server.connect()
        try client.send(
            "CAP LS 302", "CAP REQ :sasl", "NICK \(Door.unique("anon"))", "USER a 0 * :A", "AUTHENTICATE ANONYMOUS")
        try client.expect("AUTHENTICATE +")
        try client.send("AUTHENTICATE +")
        try client.expect(" 903 ")
        try client.send("CAP END")
        try client.expect(" 001 ")
        #expect(try identity(client).parameters[1].hasPrefix("u"))
    }

    // MARK: Refusals

    @Test("A bad token is FAIL IDENTITY INVALID_TOKEN")
    func badResume() throws {
        let person = try server.person(Door.unique("bad"))
        let good = try token(person)
        for bad in ["nonsense", String(good.dropLast()), good + "a", String(good.reversed())] {
            try person.send("IDENTITY RESUME \(bad)")
            #expect(try person.sync().contains { $0.text.contains("FAIL IDENTITY INVALID_TOKEN") })
        }
    }

    @Test("A bad PASS guest: is 464 and the connection closes")
    func badPass() throws {
        let client = try server.connect()
        try client.send("PASS guest:u234567abcdef.nonsense", "NICK \(Door.unique("bad"))")
        let lines = try client.readToEnd()
        #expect(lines.contains { $0.command == "464" })
        #expect(lines.allSatisfy { $0.command != "001" })
    }

    @Test("A bad SASL PLAIN is 904, and registration can go on")
    func badSASL() throws {
        let client = try server.connect()
        let nick = Door.unique("bad")
        try client.send("CAP LS 302", "CAP REQ :sasl", "NICK \(nick)", "USER a 0 * :A", "AUTHENTICATE PLAIN")
        try client.expect("AUTHENTICATE +")
        try client.send("AUTHENTICATE \(Data("\0u234567abcdef\0wrong".utf8).base64EncodedString())")
        try client.expect(" 904 ")
        try client.send("CAP END")
        try client.expect(" 001 \(nick) ")
    }

    @Test("IDENTITY REVOKE makes all earlier tokens void and tells a new one")
    func revoke() throws {
        let person = try server.person(Door.unique("revoke"))
        let uid = try identity(person).parameters[1]
        let old = try token(person)
        try person.send("IDENTITY REVOKE")
        let told = try person.expect("NOTE IDENTITY TOKEN").parameters[2]
        #expect(told != old)
        #expect(try token(person) == told)
        let thief = try server.person(Door.unique("thief"))
        try thief.send("IDENTITY RESUME \(old)")
        #expect(try thief.sync().contains { $0.text.contains("INVALID_TOKEN") })
        let owner = try server.connect()
        try owner.send("PASS guest:\(told)", "ISON nobody")
        try owner.expect(" 001 ")
        #expect(try identity(owner).parameters[1] == uid)
    }

    @Test("Tokens are never logged and never stored in clear")
    func tokensStaySecret() throws {
        let server = try ServerProcess()
        let person = try server.person("ana", in: "#cats")
        let secret = try token(person)
        try person.send("IDENTITY RESUME \(secret)x", "IDENTITY REVOKE")
        try person.sync()
        let fresh = try token(person)
        let other = try server.connect()
        try other.send("PASS guest:\(fresh)", "ISON nobody")
        try other.expect(" 001 ")
        try server.terminate()
        for text in [secret, fresh] {
            let mac = text.split(whereSeparator: { !$0.isLetter && !$0.isNumber }).last.map(String.init) ?? text
            let found = try Pipeline.run("grep -rlF -e '\(text)' -e '\(mac)' .; true", directory: server.directory)
            #expect(found.output.isEmpty)
        }
    }

    // MARK: What it costs

    @Test("A thousand guests that come and go write nothing to the database")
    func guestsCostNothing() throws {
        let server = try ServerProcess()
        try server.client("warm").close()
        /// What every table holds.
        func rows() throws -> String {
            try Pipeline.run(
                """
                sqlite3 -readonly data/parley.db "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'" \
                | while read -r table; do echo "$table $(sqlite3 -readonly data/parley.db "SELECT count(*) FROM \"$table\"")"; done
                """, directory: server.directory
            ).output
        }
        func sizes() throws -> [UInt64] {
            try ["parley.db", "parley.db-wal"].map { name in
                let path = "\(server.directory)/data/\(name)"
                return try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64 ?? 0
            }
        }
        let (before, size) = (try rows(), try sizes())
        for round in 0..<10 {
            let crowd = Crowd()
            for i in 0..<100 {
                let text =
                    i % 2 == 0
                    ? "NICK n\(round)x\(i)\r\nWHOIS warm\r\nQUIT\r\n"
                    : "CAP LS 302\r\nNICK n\(round)x\(i)\r\nUSER u 0 * :U\r\nCAP END\r\nAWAY :x\r\nQUIT\r\n"
                try crowd.add(port: server.port(), sending: text)
            }
            let haveLeft = crowd.read(.seconds(20), until: { (0..<100).allSatisfy { crowd.hasEnded($0) } })
            #expect(haveLeft)
        }
        let probe = try server.client("probe")
        try probe.send("LUSERS")
        try probe.expect(" 265 ")
        #expect(try rows() == before)
        #expect(try sizes() == size)
    }

    // MARK: One user

    @Test("Several connections of one identity are one user: same nick, each sees what the others sent")
    func severalSessions() throws {
        let nick = Door.unique("multi")
        let watcher = try server.watcher(channel)
        let first = try server.person(nick, in: channel)
        try watcher.expect(":\(nick)!", " JOIN ")
        let second = try server.connect("second")
        try second.send("PASS guest:\(try token(first))", "ISON nobody")
        try second.expect(" 001 \(nick) ")
        #expect(try identity(second).parameters[3] == "2")
        try second.send("PRIVMSG \(channel) :from the second")
        try first.expect("from the second")
        try watcher.expectMessage("from the second")
        try first.send("PRIVMSG \(channel) :from the first")
        try second.expect("from the first")
        #expect(try watcher.lines(until: "from the first").allSatisfy { $0.command != "JOIN" })
    }

    @Test("… the user leaves when the last one does")
    func lastSessionLeaves() throws {
        let nick = Door.unique("multi")
        let watcher = try server.watcher(channel)
        let first = try server.person(nick, in: channel)
        let second = try server.connect("second")
        try second.send("PASS guest:\(try token(first))", "ISON nobody")
        try second.expect(" 001 \(nick) ")
        first.close()
        try second.sync()
        try second.send("PRIVMSG \(channel) :still here")
        #expect(try watcher.lines(until: "still here").allSatisfy { $0.command != "QUIT" })
        second.close()
        try watcher.expect(":\(nick)!", " QUIT", within: 2)
    }

    @Test("RESUME in a session that has an identity: the old user quits, the session joins the other's")
    func resumeChanges() throws {
        let (uid, token) = try leaveBehind(Door.unique("first"))
        let watcher = try server.watcher(channel)
        let nick = Door.unique("temp")
        let person = try server.person(nick, in: channel)
        try person.send("IDENTITY RESUME \(token)")
        try watcher.expect(":\(nick)!", " QUIT")
        #expect(try identity(person).parameters[1] == uid)
    }

    // MARK: Helpers

    /// `NOTE IDENTITY <uid> <account|*> <sessions> :…`
    private func identity(_ client: LineClient) throws -> ReceivedLine {
        try client.send("IDENTITY")
        return try client.expect("NOTE IDENTITY u")
    }

    private func token(_ client: LineClient) throws -> String {
        try client.send("IDENTITY TOKEN")
        return try client.expect("NOTE IDENTITY TOKEN").parameters[2]
    }

    /// Somebody founded the channel and left by a lost connection.
    private func leaveBehind(_ nick: String) throws -> (uid: String, token: String) {
        let client = try server.person(nick, in: channel)
        let uid = try identity(client).parameters[1]
        let token = try token(client)
        client.close()
        let probe = try server.client(Door.unique("probe"))
        let gone = try Deadline.seconds(3).wait {
            try probe.send("ISON \(nick)")
            return try probe.expect(" 303 ").last.isEmpty
        }
        #expect(gone)
        return (uid, token)
    }

    private func comeBack(_ way: WayBack, _ nick: String, uid: String, token: String) throws -> LineClient {
        let client = try server.connect("\(way)")
        switch way {
        case .pass:
            try client.send("PASS guest:\(token)", "ISON nobody")
        case .passAsClient:
            try client.send("CAP LS 302", "PASS guest:\(token)", "NICK \(nick)", "USER x 0 * :X", "CAP END")
        case .resume:
            try client.send("IDENTITY RESUME \(token)")
        case .sasl:
            try client.send("CAP LS 302", "CAP REQ :sasl", "NICK \(nick)", "USER x 0 * :X", "AUTHENTICATE PLAIN")
            try client.expect("AUTHENTICATE +")
            try client.send("AUTHENTICATE \(Data("\0\(uid)\0\(token)".utf8).base64EncodedString())")
            try client.expect(" 903 ")
            try client.send("CAP END")
        }
        try client.expect(" 001 ")
        return client
    }
}
