import Bytes
import Foundation
import TestKit
import Testing

/// One run in which every kind of secret is used, right and wrong: afterwards none of them is anywhere on the disk.
@Suite struct DoorSecretsTests {
    private func plain(_ name: String, _ password: String) -> String {
        Base64.encode(Array("\0\(name)\0\(password)".utf8)).string
    }

    /// The files below a directory that hold one of the words, as they are or in base64 at any alignment.
    private func files(in directory: String, with words: [String]) throws -> [String] {
        var found: [String] = []
        let all = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        #expect(all.contains { $0.hasSuffix("parley.db") } && all.contains("log"))
        for path in all {
            guard let content = try? Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(path)")) else { continue }
            for word in words where forms(of: word).contains(where: { content.range(of: $0) != nil }) {
                found.append("\(path) has \(word)")
            }
        }
        return found
    }

    private func forms(of word: String) -> [Data] {
        let shifted = (0..<3).map { shift in
            // What stands before it changes the first characters, what follows the last ones.
            let text = Base64.encode(Array(repeating: 0x41, count: shift) + Array(word.utf8)).string
            let whole = String(text.dropFirst(shift == 0 ? 0 : 4).prefix { $0 != "=" }.dropLast())
            return Data(whole.utf8)
        }
        return [Data(word.utf8)] + shifted
    }

    private func configuration(_ sink: MailSink) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.operators = [("root", "oper-secret-word")]
        configuration.sections["log"] = ["level": "\"debug\""]
        let mailer = "msmtp --host=127.0.0.1 --port=\(sink.port) --tls=off --from=a@b.example -t"
        configuration.sections["accounts"] = ["mail-command": "[\"sh\", \"-c\", \"exec \(mailer)\"]"]
        return configuration
    }

    /// REGISTER, PASSWD, NickServ, IDENTITY and OPER, each with a wrong word too.
    private func commands(_ server: ServerProcess) throws -> [String] {
        var secrets = ["first-password-of-ana", "four-other-words", "mistyped-secret", "wrong-oper-word"]
        let ana = try server.client("ana")
        try ana.send("REGISTER * * \(secrets[0])")
        try ana.expect("REGISTER SUCCESS ana")
        try ana.send("IDENTITY TOKEN")
        secrets.append(try ana.expect("NOTE IDENTITY TOKEN").parameters[2])
        try ana.send("PASSWD mistyped-secret four-other-words")
        try ana.expect("FAIL PASSWD")
        try ana.send("PASSWD \(secrets[0]) four-other-words")
        try ana.expect("NOTE PASSWD CHANGED")
        try ana.send("PRIVMSG NickServ :IDENTIFY ana mistyped-secret", "NS IDENTIFY ana four-other-words")
        try ana.expect(" 900 ")
        try ana.send("IDENTITY RESUME \(secrets[4])", "IDENTITY REVOKE")
        secrets.append(try ana.expect("NOTE IDENTITY TOKEN").parameters[2])
        try ana.send("OPER root wrong-oper-word", "OPER four-other-words root")
        try ana.expect(" 464 ")
        try ana.expect(" 464 ")
        try ana.send("OPER root oper-secret-word")
        try ana.expect(" 381 ")
        return secrets
    }

    private func codes(_ server: ServerProcess, _ sink: MailSink) throws -> [String] {
        let bo = try server.client("bo")
        try bo.send("REGISTER * bo@cats.example bo-has-a-password")
        try bo.expect("VERIFICATION_REQUIRED")
        let mail = try sink.message(0).lines.first { $0.hasPrefix("    VERIFY ") }
        let code = String(try #require(mail?.split(separator: " ").last))
        try bo.send("VERIFY bo wrong-code", "VERIFY bo \(code)")
        try bo.expect("VERIFY SUCCESS")
        return ["bo-has-a-password", code, "wrong-code"]
    }

    /// SASL PLAIN and SCRAM, and PASS.
    private func logins(_ server: ServerProcess, token: String) throws -> [String] {
        let client = try server.connect()
        try client.send("CAP LS 302", "AUTHENTICATE PLAIN", "AUTHENTICATE \(plain("ana", "mistyped-secret"))")
        try client.expect(" 904 ")
        try client.send("AUTHENTICATE PLAIN", "AUTHENTICATE \(plain("ana", "four-other-words"))")
        try client.expect(" 903 ")
        let scram = ScramClient("ana", "four-other-words")
        try client.send("AUTHENTICATE SCRAM-SHA-256", "AUTHENTICATE \(scram.first)")
        try client.expect("AUTHENTICATE +")
        let answer = try #require(scram.answer(try client.expect("AUTHENTICATE ").parameters[0]))
        try client.send("AUTHENTICATE \(answer.message)")
        #expect(try client.expect("AUTHENTICATE ").parameters[0] == answer.signature)
        for pass in ["ana:mistyped-secret", "ana:four-other-words", "guest:\(token)", "nobody"] {
            let other = try server.connect()
            try other.send("PASS \(pass)", "NICK \(Door.unique("n"))", "USER u 0 * :U")
            try other.expect(" :") { ["001", "464"].contains($0.command) }
        }
        return [answer.message]
    }

    @Test("No password, token or code is in the database, beside it or in what the server writes")
    func nowhere() throws {
        let sink = try MailSink()
        let server = try ServerProcess(configuration(sink))
        var secrets = try commands(server)
        secrets += try codes(server, sink)
        secrets += try logins(server, token: secrets[4])
        let added = try Pipeline.run(
            "echo dogs-have-passwords | '\(ServerProcess.binary)' -c '\(server.configurationPath)' account add dog")
        #expect(added.status == 0)
        secrets.append("dogs-have-passwords")
        let cy = try server.client("cy")
        try cy.join("#cats")
        try cy.say("#cats", "something")

        #expect(try files(in: server.directory, with: secrets) == [])
        #expect(server.log.contains("registered account ana"))
        try server.terminate()
        #expect(try files(in: server.directory, with: secrets) == [])
        // What it looks for it would find: the operator's password stands in the configuration.
        #expect(try files(in: server.directory, with: ["oper-secret-word"]) == ["parley.toml has oper-secret-word"])
        let hidden = Base64.encode(Array("x:four-other-words!".utf8)).string
        try hidden.write(toFile: "\(server.directory)/data/planted", atomically: true, encoding: .utf8)
        #expect(try files(in: server.directory, with: secrets).count == 1)
    }
}
