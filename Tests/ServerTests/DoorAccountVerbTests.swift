import Foundation
import TestKit
import Testing

/// `parley account …` beside the running server.
@Suite struct DoorAccountVerbTests {
    private func account(_ server: ServerProcess, _ words: String, password: String? = nil) throws -> Pipeline {
        let input = password.map { "printf '%s\\n' '\($0)' | " } ?? ""
        return try Pipeline.run(
            "\(input)'\(ServerProcess.binary)' --config '\(server.configurationPath)' account \(words) 2>&1")
    }

    private func comesIn(_ server: ServerProcess, _ name: String, _ password: String) throws -> Bool {
        let client = try server.connect()
        try client.send("PASS :\(name):\(password)", "NICK \(name)", "USER u 0 * :U")
        let answer = try client.expect(" :") { ["001", "464"].contains($0.command) }
        return answer.command == "001"
    }

    @Test("An operator adds an account, changes its password, suspends it and deletes it")
    func life() throws {
        let server = try ServerProcess()
        let added = try account(server, "add ana ana@cats.example", password: "correct horse, battery")
        #expect(added.status == 0 && added.output.contains("The account ana is u"))
        #expect(try account(server, "add ana", password: "correct-horse").status == 1)
        #expect(try comesIn(server, "ana", "correct horse, battery"))
        #expect(try account(server, "passwd ana", password: "four-other-words").status == 0)
        #expect(try !comesIn(server, "ana", "correct horse, battery"))
        #expect(try comesIn(server, "ana", "four-other-words"))
        let list = try account(server, "list")
        #expect(
            list.output.hasPrefix("ana u") && list.output.contains(" open ")
                && list.output.contains(" ana@cats.example"))
        #expect(try account(server, "list bo*").output.isEmpty)

        let ana = try server.connect()
        try ana.send("PASS :ana:four-other-words")
        try ana.expect(" 001 ")
        let suspended = try account(server, "suspend ana 'stolen password'")
        #expect(suspended.status == 0 && suspended.output.contains("1 connections closed"))
        #expect(try ana.readToEnd().last?.text.contains("stolen password") == true)
        #expect(try !comesIn(server, "ana", "four-other-words"))
        #expect(try account(server, "list").output.contains(" suspended "))
        #expect(try account(server, "unsuspend ana").status == 0)
        #expect(try comesIn(server, "ana", "four-other-words"))

        #expect(try account(server, "delete ana").status == 0)
        #expect(try !comesIn(server, "ana", "four-other-words"))
        try server.restart()
        #expect(try !comesIn(server, "ana", "four-other-words"))
        #expect(try account(server, "add ana", password: "correct-horse").output.contains("ACCOUNT_EXISTS"))
        let acts = [
            "added account ana", "set the password of account ana", "suspended account ana", "deleted account ana",
        ]
        for act in acts { #expect(server.log.components(separatedBy: act).count == 2, "\(act) is in the log once") }
        for secret in ["correct horse", "four-other-words"] { #expect(!server.log.contains(secret)) }
    }

    @Test("Certificates are added, listed and removed, and log in")
    func certificates() throws {
        let server = try ServerProcess(ServerConfiguration(.plain, .tls))
        try Pipeline.run(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ana \\
            -keyout ana.key -out ana.pem 2>/dev/null
            """, directory: server.directory)
        let print = try Pipeline.run(
            "openssl x509 -in ana.pem -noout -fingerprint -sha256", directory: server.directory)
        let fingerprint = try #require(print.output.split(separator: "=").last).trimmingCharacters(
            in: .whitespacesAndNewlines)
        #expect(try account(server, "add ana", password: "correct-horse").status == 0)
        #expect(try account(server, "cert ana add \(fingerprint)").status == 0)
        let listed = try account(server, "cert ana list").output
        #expect(listed.contains(fingerprint.replacing(":", with: "").lowercased()))
        func external() throws -> LineClient {
            let options = ["-cert", "\(server.directory)/ana.pem", "-key", "\(server.directory)/ana.key"]
            let client = try server.connectTLS(options: options)
            try client.send("CAP LS 302", "AUTHENTICATE EXTERNAL", "AUTHENTICATE +")
            return client
        }
        try external().expect(" 900 ", " ana ")
        #expect(try account(server, "cert ana del \(fingerprint)").status == 0)
        try external().expect(" 904 ")
    }

    @Test("Without a password, or a server, nothing is done")
    func refusals() throws {
        let server = try ServerProcess()
        let none = try account(server, "add ana </dev/null")
        #expect(none.status == 1 && none.output.contains("no password given"))
        let wrong = try account(server, "frobnicate")
        #expect(wrong.status == 2 && wrong.output.contains("write account add NAME"))
        #expect(try account(server, "passwd nobody", password: "correct-horse").output.contains("NO_SUCH_ACCOUNT"))
        try server.terminate()
        let alone = try account(server, "list")
        #expect(alone.status == 1 && alone.output.contains("is the server running?"))
    }
}
