import Bytes
import Wire

let serviceCommands: [Command] = [
    Command(
        "NICKSERV", minimum: 1, source: "docs/PROTOCOL.md, Accounts",
        help: [
            "NICKSERV <command>", "The same as a message to NickServ; NICKSERV HELP lists what it knows.",
            "Example: NICKSERV HELP",
        ]
    ) { world, turn in world.serve(turn.session, turn.message.rest(from: 0), by: .nicks) },
    Command(
        "NS", minimum: 1, source: "docs/PROTOCOL.md, Accounts",
        help: [
            "NS <command>", "The same as a message to NickServ; NS HELP lists what it knows.",
            "Example: NS IDENTIFY correct-horse-battery",
        ]
    ) { world, turn in world.serve(turn.session, turn.message.rest(from: 0), by: .nicks) },
]

/// NickServ, for clients and people that are used to it: it does what the commands do and answers in notices.
extension World {
    private static var help: [ByteString] {
        [
            "REGISTER <password> [email]: makes an account named as your nick",
            "VERIFY <account> <code>: ends its registration with the code that was sent by mail",
            "IDENTIFY [account] <password>: logs in", "LOGOUT: you are a guest again",
            "PASSWD <old> <new>: changes the password",
            "RESETPASS <account>, then RESETPASS <account> <code> <new>: a new password by mail",
            "SAREGISTER <account> <password>: for operators; ACCOUNT ADD does it too",
            "CERT ADD [fingerprint] | DEL <fingerprint> | LIST: TLS certificates that log in by SASL EXTERNAL",
        ]
    }

    mutating func nickServ(_ session: ConnectionID, _ text: ByteView) {
        let words = text.parts(0x20)
        guard let command = words.first else { return }
        let rest = Array(words.dropFirst())
        if command.equalsIgnoringCase("REGISTER") {
            serviceRegister(session, rest)
        } else if command.equalsIgnoringCase("VERIFY"), rest.count == 2 {
            verify(Errand(session, .service, .verify(code: ByteString(rest[1]))), rest[0])
        } else if command.equalsIgnoringCase("IDENTIFY") || command.equalsIgnoringCase("ID") {
            identify(session, rest)
        } else if command.equalsIgnoringCase("LOGOUT") {
            logOut(session)
        } else if command.equalsIgnoringCase("PASSWD"), rest.count == 2 {
            changePassword(Errand(session, .service, .changePassword(ByteString(rest[1]))), old: ByteString(rest[0]))
        } else if command.equalsIgnoringCase("RESETPASS"), rest.count == 1 || rest.count == 3 {
            resetPassword(session, .service, rest)
        } else if command.equalsIgnoringCase("CERT") {
            certificates(session, rest)
        } else if command.equalsIgnoringCase("SAREGISTER"), rest.count == 2 {
            run(session, "ACCOUNT ADD \(rest[0]) * :\(rest[1])")
        } else if command.equalsIgnoringCase("HELP") {
            for line in Self.help { serviceNotice(session, line) }
        } else {
            refuseWord(session, command, by: .nicks)
        }
    }

    private mutating func serviceRegister(_ session: ConnectionID, _ words: [ByteView]) {
        guard words.count == 1 || words.count == 2 else {
            return serviceNotice(session, "Write REGISTER <password> [email]")
        }
        register(
            Errand(session, .service, .nothing), ByteView("*"), email: words.count == 2 ? words[1] : ByteView("*"),
            ByteString(words[0]))
    }

    private mutating func identify(_ session: ConnectionID, _ words: [ByteView]) {
        guard let password = words.last, words.count <= 2, let user = sessions[session].user else {
            return serviceNotice(session, "Write IDENTIFY [account] <password>")
        }
        let errand = Errand(session, .service, .logIn)
        if words.count == 2 { return logIn(errand, words[0], password: ByteString(password)) }
        let nick = users[user].nick
        nick.withView { logIn(errand, $0, password: ByteString(password)) }
    }

    // MARK: Certificates

    private mutating func certificates(_ session: ConnectionID, _ words: [ByteView]) {
        let own = sessions[session].peer.certificate
        let given = words.count > 1 ? Certificates.fingerprint(words[1]) : own
        let verb = words.first ?? .empty
        if verb.equalsIgnoringCase("LIST") {
            manage(session, .listCertificates)
        } else if verb.equalsIgnoringCase("ADD") {
            if words.count < 2, own.isEmpty {
                return serviceNotice(
                    session, "Your connection showed no certificate. Connect by TLS with one, or give its SHA-256")
            }
            guard let given else { return serviceNotice(session, "A fingerprint is SHA-256: 64 hexadecimal digits") }
            manage(session, .addCertificate(given))
        } else if verb.equalsIgnoringCase("DEL"), words.count == 2, let given {
            manage(session, .removeCertificate(given))
        } else {
            serviceNotice(session, "Write CERT ADD [fingerprint], CERT DEL <fingerprint> or CERT LIST")
        }
    }

    private mutating func manage(_ session: ConnectionID, _ aim: Errand.Aim) {
        guard let user = sessions[session].user, !users[user].account.isEmpty else {
            return serviceNotice(session, "Log in first, with IDENTIFY")
        }
        var errand = Errand(session, .service, aim)
        errand.name = users[user].account
        look(up: .uid(users[user].uid), for: errand)
    }
}
