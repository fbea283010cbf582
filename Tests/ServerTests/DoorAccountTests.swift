import Bytes
import Foundation
import TestKit
import Testing

/// docs/PROTOCOL.md, Accounts: the ways in, with the real hasher, the real store and real certificates.
@Suite struct DoorAccountTests {
    static let password = "correct-horse-battery"

    private func blob(_ name: String, _ password: String) -> String {
        Base64.encode(Array("\0\(name)\0\(password)".utf8)).string
    }

    private func registered(_ nick: String, on server: ServerProcess) throws -> LineClient {
        let client = try server.client(nick)
        try client.send("REGISTER * * \(Self.password)")
        try client.expect("REGISTER SUCCESS \(nick)")
        try client.expect(" 900 ")
        return client
    }

    private func negotiating(_ server: ServerProcess) throws -> LineClient {
        let client = try server.connect()
        try client.send("CAP LS 302", "CAP REQ :sasl")
        try client.expect("CAP", "ACK")
        return client
    }

    @Test("Registered once, one comes back by PLAIN, SCRAM and PASS, after a restart too, as who one was")
    func comingBack() throws {
        let server = try ServerProcess()
        let ana = try registered("ana", on: server)
        try ana.join("#cats")
        try ana.send("IDENTITY")
        let uid = try ana.expect("NOTE IDENTITY").parameters[1]
        try ana.send("QUIT")
        try ana.readToEnd()
        for round in 0..<2 {
            let plain = try negotiating(server)
            try plain.send("AUTHENTICATE PLAIN", "AUTHENTICATE \(blob("ana", Self.password))")
            try plain.expect(" 900 ", " ana ")
            try plain.expect(" 903 ")
            try plain.send("NICK ana", "USER u 0 * :Ana", "CAP END")
            try plain.expect(" JOIN #cats")
            try plain.expect(" 353 ", "@ana")
            try plain.send("IDENTITY")
            #expect(try plain.expect("NOTE IDENTITY").parameters[1...2] == [uid, "ana"])
            try plain.send("QUIT")
            try plain.readToEnd()

            let scram = try negotiating(server)
            let exchange = ScramClient("ana", Self.password)
            try scram.send("AUTHENTICATE SCRAM-SHA-256")
            try scram.expect("AUTHENTICATE +")
            try scram.send("AUTHENTICATE \(exchange.first)")
            let challenge = try scram.expect("AUTHENTICATE ").parameters[0]
            let answer = try #require(exchange.answer(challenge))
            try scram.send("AUTHENTICATE \(answer.message)")
            #expect(try scram.expect("AUTHENTICATE ").parameters[0] == answer.signature)
            try scram.send("AUTHENTICATE +")
            try scram.expect(" 903 ")
            scram.close()

            let person = try server.connect()
            try person.send("PASS ana:\(Self.password)")
            try person.expect(" 001 ana ")
            try person.send("QUIT")
            try person.readToEnd()
            if round == 0 { try server.restart() }
        }
        let other = try server.connect()
        try other.send("NICK Ana")
        try other.expect(" 433 ")
        let wrong = try server.connect()
        try wrong.send("PASS ana:wrong-horse")
        try wrong.expect(" 464 ")
        try wrong.readToEnd()
    }

    @Test("A client certificate logs in by SASL EXTERNAL")
    func certificates() throws {
        let server = try ServerProcess(ServerConfiguration(.plain, .tls))
        try Pipeline.run(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ana \
            -keyout ana.key -out ana.pem 2>/dev/null
            """, directory: server.directory)
        let options = ["-cert", "\(server.directory)/ana.pem", "-key", "\(server.directory)/ana.key"]
        let ana = try server.connectTLS(options: options)
        try ana.register("ana")
        try ana.send("REGISTER * * \(Self.password)")
        try ana.expect("REGISTER SUCCESS ana")
        try ana.send("NS CERT ADD")
        try ana.expect("Added ")
        try ana.send("QUIT")
        try ana.readToEnd()
        try server.restart()

        let back = try server.connectTLS(options: options)
        try back.send("CAP LS 302")
        try back.expect("sasl=PLAIN,SCRAM-SHA-256,EXTERNAL,ANONYMOUS")
        try back.send("AUTHENTICATE EXTERNAL", "AUTHENTICATE +")
        try back.expect(" 900 ", " ana ")
        try back.send("NICK ana", "USER u 0 * :Ana", "CAP END")
        try back.expect(" 001 ana ")
        let bare = try server.connectTLS()
        try bare.send("CAP LS 302", "AUTHENTICATE EXTERNAL", "AUTHENTICATE +")
        try bare.expect(" 904 ")
    }

    /// The code of a mail's only command.
    private func code(_ mail: MailSink.Message, _ command: String) -> String {
        let words = mail.lines.first { $0.hasPrefix("    \(command) ") }?.split(separator: " ")
        return String(words?.dropFirst(2).first ?? "")
    }

    /// What an operator would write for a mail server without encryption on this machine.
    private func mailing(to sink: MailSink) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        let words = [
            "msmtp", "--host=127.0.0.1", "--port=\(sink.port)", "--tls=off", "--auth=off", "--from=chat@example.org",
            "--read-recipients",
        ]
        configuration.sections["accounts"] = [
            "mail-command": "[\(words.map { "\"\($0)\"" }.joined(separator: ", "))]",
            "mail-from": "\"chat@example.org\"",
        ]
        return configuration
    }

    @Test("Addresses are verified and passwords replaced by mail, which a real mailer brings to a real mail server")
    func mail() throws {
        let sink = try MailSink()
        let server = try ServerProcess(mailing(to: sink))
        let ana = try server.client("ana")
        try ana.send("REGISTER * ana@cats.example \(Self.password)")
        try ana.expect("REGISTER VERIFICATION_REQUIRED ana")
        let first = try sink.message(0)
        #expect(first.sender == "chat@example.org" && first.recipients == ["ana@cats.example"])
        #expect(first.lines.contains("From: chat@example.org") && first.lines.contains("To: ana@cats.example"))
        #expect(
            first.lines.contains { $0.hasPrefix("Date: ") } && first.lines.contains { $0.hasPrefix("Message-ID: <") })
        #expect(!first.lines.contains { $0.contains(Self.password) })
        try ana.send("IDENTITY")
        #expect(try ana.expect("NOTE IDENTITY").parameters[2] == "*", "not before the address is proved")
        try ana.send("VERIFY ana \(code(first, "VERIFY"))")
        try ana.expect("VERIFY SUCCESS ana")
        try ana.send("LOGOUT")
        try ana.expect(" 901 ")
        try ana.send("RESETPASS ana")
        try ana.expect("NOTE RESETPASS SENT")
        try ana.send("RESETPASS ana \(code(try sink.message(1), "RESETPASS")) four-other-words")
        try ana.expect("NOTE RESETPASS CHANGED")
        try ana.send("NS IDENTIFY ana four-other-words")
        try ana.expect(" 900 ")
        #expect(sink.count == 2)
    }

    @Test("A mail command that fails registers nothing, and one that hangs keeps nobody")
    func mailFails() throws {
        var configuration = ServerConfiguration()
        configuration.sections["accounts"] = ["mail-command": "[\"sh\", \"-c\", \"exit 3\"]"]
        let server = try ServerProcess(configuration)
        let ana = try server.client("ana")
        try ana.send("REGISTER * ana@cats.example \(Self.password)")
        try ana.expect("FAIL REGISTER TEMPORARILY_UNAVAILABLE ana")
        configuration.sections["accounts"] = ["mail-command": "[\"sleep\", \"600\"]"]
        let slow = try ServerProcess(configuration)
        let bo = try slow.client("bo")
        try bo.send("REGISTER * bo@cats.example \(Self.password)")
        let cy = try slow.client("cy")
        try cy.join("#cats")
        try cy.say("#cats", "the chat goes on")
        try slow.terminate()
    }

    /// 1,000 attempts from 100 addresses; the hasher's queue is full all the time.
    @Test("In a flood of logins chat flows, each attempt is answered, and operators come in")
    func flood() throws {
        var configuration = ServerConfiguration()
        configuration.operators = [("root", "oper-secret-word")]
        let server = try ServerProcess(configuration)
        try registered("ana", on: server).close()
        let bo = try server.client("bo")
        let cy = try server.client("cy")
        try bo.join("#cats")
        try cy.join("#cats")
        try cy.sync()
        let attempt = "AUTHENTICATE PLAIN\r\nAUTHENTICATE \(blob("ana", "wrong-horse"))\r\n"
        let crowd = Crowd()
        for i in 0..<100 {
            try crowd.add(
                port: server.port(), from: "127.0.1.\(i + 1)",
                sending: "CAP LS 302\r\n" + String(repeating: attempt, count: 10))
        }
        for i in 0..<50 {
            try bo.send("PRIVMSG #cats :line \(i)")
            try cy.expectMessage("line \(i)")
        }
        try bo.send("OPER root oper-secret-word")
        try bo.expect(" 381 ")
        let added = try Pipeline.run(
            "echo four-other-words | '\(ServerProcess.binary)' --config '\(server.configurationPath)' account add dog")
        #expect(added.status == 0, "\(added.output)")
        var refused = 0
        var busy = 0
        let isAnswered = crowd.read(.seconds(60), until: { refused == 1000 }) { _, line in
            if line.contains(" 904 ") { refused += 1 }
            if line.contains("The server is busy") { busy += 1 }
        }
        #expect(isAnswered, "\(refused) of 1000")
        #expect(busy > 0, "more came than the hasher takes")
    }
}
