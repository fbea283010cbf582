import Bytes
import Chat
import TestKit
import Testing

extension ScramClient {
    /// With what stands in for PBKDF2 in a script.
    static func scripted(_ name: String, _ password: String) -> ScramClient {
        ScramClient(name, password) { password, _, _ in WorldScript.saltedPassword(ByteString(password)) }
    }
}

/// Every way in goes through one gate.
@Suite struct AccountGateTests {
    static let certificate = ByteString(String(repeating: "0c", count: 32))

    enum Way: String, CaseIterable, Sendable {
        case pass, plain, scram, external, nickserv, token, resume

        /// Tries to come in as ana; whether it succeeded.
        func tries(_ script: WorldScript, token: String) -> Bool {
            let client = script.connect(isTLS: true, certificate: AccountGateTests.certificate)
            if self == .nickserv {
                client.send("NICK nobody")
                client.send("USER u 0 * :u")
                client.send("PRIVMSG NickServ :IDENTIFY ana \(WorldScript.password)")
                return AccountGateTests.account(of: client) == "ana"
            }
            client.send("CAP LS 302")
            switch self {
            case .pass: client.send("PASS ana:\(WorldScript.password)")
            case .plain: client.plain("ana", WorldScript.password)
            case .scram: AccountGateTests.scram(client)
            case .external:
                client.send("AUTHENTICATE EXTERNAL")
                client.send("AUTHENTICATE +")
            case .token: client.send("PASS guest:\(token)")
            case .resume: client.send("IDENTITY RESUME \(token)")
            case .nickserv: break
            }
            if client.isClosed { return false }
            client.send("NICK newcomer")
            client.send("USER u 0 * :u")
            client.send("CAP END")
            return AccountGateTests.account(of: client) == "ana"
        }
    }

    static func account(of client: ScriptClient) -> String {
        let note = client.ask("IDENTITY").first { $0.contains("NOTE IDENTITY u") } ?? ""
        return note.split(separator: " ").dropFirst(4).first.map(String.init) ?? ""
    }

    static func scram(_ client: ScriptClient) {
        let scram = ScramClient.scripted("ana", WorldScript.password)
        _ = client.ask("AUTHENTICATE SCRAM-SHA-256")
        let challenge = client.ask("AUTHENTICATE \(scram.first)").first?.split(separator: " ").last ?? ""
        guard let answer = scram.answer(String(challenge)) else { return }
        _ = client.ask("AUTHENTICATE \(answer.message)")
        client.send("AUTHENTICATE +")
    }

    enum Obstacle: String, CaseIterable, Sendable { case nothing, suspended, unverified, unregistered, full }

    static let table = Way.allCases.flatMap { way in Obstacle.allCases.map { (way, $0) } }

    @Test("Every way in, and everything that closes the gate", arguments: table)
    func gate(way: Way, obstacle: Obstacle) {
        let script = WorldScript {
            $0.operators = [OperatorSettings(name: "root", hash: "hash:secret")]
            $0.accounts.hasMail = obstacle == .unverified
            $0.limits.sessionsPerIdentity = 1
        }
        let ana = script.client("ana")
        _ = ana.ask("REGISTER * \(obstacle == .unverified ? "ana@cats.example" : "*") \(WorldScript.password)")
        _ = ana.ask("NS CERT ADD \(Self.certificate)")
        let token = String(ana.ask("IDENTITY TOKEN")[0].split(separator: " ")[4])
        if obstacle == .unregistered { _ = ana.ask("UNREGISTER \(WorldScript.password)") }
        if obstacle != .full { ana.send("QUIT") }
        if obstacle == .suspended {
            let root = script.client("root")
            _ = root.ask("OPER root secret")
            _ = root.ask("SUSPEND ana")
        }
        #expect(way.tries(script, token: token) == (obstacle == .nothing))
    }

    @Test func whoIsNotVerifiedComesBackAsTheGuestThatItIs() {
        let script = WorldScript { $0.accounts.hasMail = true }
        let ana = script.client("ana")
        _ = ana.ask("REGISTER * ana@cats.example \(WorldScript.password)")
        let token = ana.ask("IDENTITY TOKEN")[0].split(separator: " ")[4]
        ana.send("QUIT")
        let back = script.connect()
        back.send("PASS guest:\(token)")
        back.send("NICK eva")
        #expect(back.ask("USER u 0 * :Ana").first?.contains(" 001 eva ") == true)
        #expect(Self.account(of: back) == "*")
    }

    /// The row was read, then the account changed, then the hasher said that the password is right.
    @Test func aChangeMeanwhileClosesTheGate() {
        let script = WorldScript { $0.operators = [OperatorSettings(name: "root", hash: "hash:secret")] }
        script.registered("ana").send("QUIT")
        let root = script.client("root")
        _ = root.ask("OPER root secret")
        script.isHasherSlow = true
        let thief = script.connect()
        thief.send("PASS ana:\(WorldScript.password)")
        _ = root.ask("SUSPEND ana")
        script.isHasherSlow = false
        script.apply(.tick)
        #expect(thief.isClosed)
    }

    // MARK: SASL

    private func negotiating(_ script: WorldScript, isTLS: Bool = false, certificate: ByteString = "") -> ScriptClient {
        let client = script.connect(isTLS: isTLS, certificate: certificate)
        client.send("CAP LS 302")
        client.send("CAP REQ :sasl")
        _ = client.read()
        return client
    }

    @Test func mechanismsAreTold() {
        let script = WorldScript()
        #expect(script.connect().ask("CAP LS 302").joined().contains(" sasl=PLAIN,SCRAM-SHA-256,ANONYMOUS "))
        #expect(
            script.connect(isTLS: true).ask("CAP LS 302").joined().contains(
                " sasl=PLAIN,SCRAM-SHA-256,EXTERNAL,ANONYMOUS "))
        let client = negotiating(script)
        #expect(
            client.ask("AUTHENTICATE EXTERNAL")[0]
                == ":parley.test 908 * PLAIN,SCRAM-SHA-256,ANONYMOUS :are available SASL mechanisms")
    }

    @Test func plainTellsNobodyWhichNamesExist() {
        let script = WorldScript()
        script.registered("ana").send("QUIT")
        let client = negotiating(script)
        client.plain("ana", "wrong-horse")
        let wrong = client.read()
        client.plain("nobody", "wrong-horse")
        #expect(client.read() == wrong)
        #expect(
            wrong.last == ":parley.test 904 * :SASL authentication failed: The account or its password is not right")
        client.plain("ana\0x", WorldScript.password)
        #expect(client.read().last?.contains(" 904 ") == true)
        client.plain("ANA", WorldScript.password)
        #expect(client.read().dropFirst().map { $0.split(separator: " ")[1] } == ["900", "903"])
    }

    @Test func longResponsesComeInParts() {
        let script = WorldScript()
        let ana = script.client("ana")
        // 400 bytes of base64 are 300 bytes: two names, two zeros, the password.
        let password = String(repeating: "ö", count: 146)
        #expect(ana.ask("REGISTER * * \(password)")[0].contains("SUCCESS"))
        ana.send("QUIT")
        let client = negotiating(script)
        _ = client.ask("AUTHENTICATE PLAIN")
        let text = Base64.encode(Array("ana\0ana\0\(password)".utf8)).string
        #expect(text.count == 400)
        #expect(client.ask("AUTHENTICATE \(text)").isEmpty)
        #expect(client.numerics("AUTHENTICATE +") == ["900", "903"])
        _ = client.ask("AUTHENTICATE PLAIN")
        let chunk = String(repeating: "A", count: 400)
        for _ in 0..<3 { #expect(client.ask("AUTHENTICATE \(chunk)").isEmpty) }
        #expect(client.numerics("AUTHENTICATE \(chunk)") == ["904"], "longer than any response may be")
    }

    @Test func scramProvesBothSides() {
        let script = WorldScript()
        script.registered("ana").send("QUIT")
        for header in ["n,,", "y,,", "n,a=ana,"] {
            let client = negotiating(script)
            var scram = ScramClient.scripted("ana", WorldScript.password)
            scram.header = header
            #expect(client.ask("AUTHENTICATE SCRAM-SHA-256") == ["AUTHENTICATE +"])
            let challenge = client.ask("AUTHENTICATE \(scram.first)")[0].split(separator: " ")[1]
            let answer = scram.answer(String(challenge))
            #expect(client.ask("AUTHENTICATE \(answer?.message ?? "")") == ["AUTHENTICATE \(answer?.signature ?? "")"])
            #expect(client.numerics("AUTHENTICATE +") == ["900", "903"])
        }
    }

    @Test func scramRefusesCleanly() {
        let script = WorldScript()
        script.registered("ana").send("QUIT")
        let client = negotiating(script)
        for opening in [
            "p=tls-unique,,n=ana,r=x", "n,a=bo,n=ana,r=x", "n,,m=x,n=ana,r=x", "n,,n=,r=x", "n,,n=ana", "n,,n=a=Fa,r=x",
            "",
        ] {
            _ = client.ask("AUTHENTICATE SCRAM-SHA-256")
            let text = Base64.encode(Array(opening.utf8))
            #expect(client.numerics("AUTHENTICATE \(text.isEmpty ? "+" : text)") == ["904"], "\(opening)")
        }
        var told: [[String]] = []
        for (name, password) in [("ana", "wrong-horse"), ("nobody", "wrong-horse")] {
            let scram = ScramClient.scripted(name, password)
            _ = client.ask("AUTHENTICATE SCRAM-SHA-256")
            let challenge = client.ask("AUTHENTICATE \(scram.first)")[0].split(separator: " ")[1]
            told.append(client.ask("AUTHENTICATE \(scram.answer(String(challenge))?.message ?? "")"))
        }
        #expect(told[0] == told[1])
        #expect(told[0][0].contains(" 904 "))
        // An unknown name has the same salt each time.
        let salts = (0..<2).map { _ in
            _ = client.ask("AUTHENTICATE SCRAM-SHA-256")
            let challenge = client.ask("AUTHENTICATE \(ScramClient.scripted("nobody", "x").first)")[0].split(
                separator: " ")[1]
            _ = client.ask("AUTHENTICATE *")
            let bytes = ByteString(String(challenge)).withView { Base64.decode($0) } ?? []
            return String(decoding: bytes, as: UTF8.self).split(separator: ",")[1]
        }
        #expect(salts[0] == salts[1])
    }

    @Test func externalIsTheCertificate() {
        let script = WorldScript()
        let ana = script.registered("ana")
        _ = ana.ask("NS CERT ADD \(Self.certificate)")
        ana.send("QUIT")
        for (name, numerics) in [("", ["900", "903"]), ("ana", ["900", "903"]), ("bo", ["904"])] {
            let client = negotiating(script, isTLS: true, certificate: Self.certificate)
            _ = client.ask("AUTHENTICATE EXTERNAL")
            let text = Base64.encode(Array(name.utf8))
            #expect(client.numerics("AUTHENTICATE \(text.isEmpty ? "+" : text)") == numerics, "\(name)")
        }
        let stranger = negotiating(script, isTLS: true, certificate: "ff")
        _ = stranger.ask("AUTHENTICATE EXTERNAL")
        #expect(stranger.numerics("AUTHENTICATE +") == ["904"])
        let bare = negotiating(script, isTLS: true)
        _ = bare.ask("AUTHENTICATE EXTERNAL")
        #expect(bare.numerics("AUTHENTICATE +") == ["904"])
    }

    @Test func registrationEndsWhatIsUnderWay() {
        let script = WorldScript()
        let client = negotiating(script)
        _ = client.ask("AUTHENTICATE PLAIN")
        client.send("NICK bo")
        client.send("USER u 0 * :Bo")
        #expect(client.numerics("CAP END").prefix(2) == ["906", "001"])
    }

    @Test func wrongPasswordsAreThrottledByAddressAndAccount() {
        let script = WorldScript()
        script.registered("ana").send("QUIT")
        // From one network of IPv6, however many addresses it has.
        func attempt(_ address: ByteString) -> String {
            let client = script.connect(address: address)
            return client.ask("PASS ana:wrong-horse").first ?? ""
        }
        for i in 1...10 { #expect(attempt("2001:db8::\(i)").contains("not right")) }
        #expect(attempt("2001:db8::99").contains("Too many wrong passwords"))
        #expect(attempt("192.0.2.99").contains("not right"), "others are not concerned yet")
        for i in 1...20 { _ = attempt("192.0.2.\(i)") }
        #expect(attempt("192.0.2.200").contains("Too many wrong passwords"), "the account is")
        script.advance(61_000)
        #expect(script.loggedIn("ana").read().contains { $0.contains(" 001 ana ") })
    }

    @Test func aBusyHasherRefusesAndTheChatGoesOn() {
        let script = WorldScript()
        script.registered("ana").send("QUIT")
        script.isHasherBusy = true
        let client = negotiating(script)
        client.plain("ana", WorldScript.password)
        #expect(
            client.read().last
                == ":parley.test 904 * :SASL authentication failed: The server is busy; try again in a while")
    }
}
