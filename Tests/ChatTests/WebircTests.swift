import Bytes
import Chat
import TestKit
import Testing

@Suite struct WebircTests {
    private func script() -> WorldScript {
        WorldScript { settings in
            settings.gateways = [
                GatewaySettings(name: "webchat", hash: "hash:secret", hosts: ["192.0.2."]),
                GatewaySettings(name: "other", hash: "hash:word", hosts: ["192.0.2.", "127."]),
            ]
            settings.operators = [OperatorSettings(name: "root", hash: "hash:root", kind: "admin")]
        }
    }

    private func register(_ client: ScriptClient, _ nick: String) {
        client.send("NICK \(nick)")
        client.send("USER \(nick) 0 * :\(nick)")
    }

    @Test func thePersonBehindAGatewayHasTheirOwnHostAndAddress() throws {
        let script = script()
        let client = script.connect(address: "192.0.2.1", host: "gateway.cloak")
        #expect(client.ask("WEBIRC secret webchat forged.example 198.51.100.7") == [])
        register(client, "ana")
        let reply = client.ask("WHOIS ana")
        #expect(reply.contains { $0.contains(" 311 ana ana ") && $0.contains(" 198.51.100.7.cloak ") })
        #expect(!reply.contains { $0.contains("forged.example") || $0.contains("gateway.cloak") })
        #expect(!reply.contains { $0.contains(" 671 ") })
        #expect(script.notes.contains { $0.text == "gateway webchat at 192.0.2.1 connects for 198.51.100.7" })
        #expect(client.ask("WEBIRC secret webchat h.example 198.51.100.8").first?.contains(" 462 ana ") == true)
    }

    @Test(arguments: [
        (true, ":secure", true), (true, ":a=b secure", true), (true, "", false), (false, ":secure", false),
    ])
    func secureIsBelievedOnlyWhereTheGatewayIsSecureItself(isTLS: Bool, options: String, isSecure: Bool) {
        let script = script()
        let client = script.connect(address: "192.0.2.1", isTLS: isTLS)
        client.send("WEBIRC secret webchat h.example 198.51.100.7 \(options)")
        register(client, "ana")
        #expect(client.ask("WHOIS ana").contains { $0.contains(" 671 ") } == isSecure)
    }

    @Test(arguments: [
        ("192.0.2.1", "WEBIRC wrong webchat h.example 198.51.100.7", "wrong password"),
        ("192.0.2.1", "WEBIRC word webchat h.example 198.51.100.7", "wrong password"),
        ("203.0.113.1", "WEBIRC secret webchat h.example 198.51.100.7", "not a gateway of this server"),
        ("127.0.0.1", "WEBIRC secret webchat h.example 198.51.100.7", "wrong password"),
        ("192.0.2.1", "WEBIRC secret webchat h.example nowhere", "not an IP address"),
    ])
    func whoIsNoGatewayIsClosed(address: String, line: String, reason: String) {
        let script = script()
        let client = script.connect(address: ByteString(address))
        #expect(client.ask(line) == ["ERROR :WEBIRC refused: \(reason)"])
        #expect(client.isClosed)
        #expect(script.notes.contains { $0.text == ByteString("WEBIRC from \(address) refused: \(reason)") })
    }

    @Test func itIsSaidOnce() {
        let script = script()
        let client = script.connect(address: "192.0.2.1")
        client.send("WEBIRC secret webchat h.example 192.0.2.7")
        #expect(client.ask("WEBIRC secret webchat h.example 198.51.100.7") == ["ERROR :WEBIRC refused: said twice"])
    }

    @Test func guessingIsHopeless() {
        let script = script()
        for _ in 0..<10 { script.connect(address: "192.0.2.1").send("WEBIRC wrong webchat h.example 198.51.100.7") }
        let client = script.connect(address: "192.0.2.1")
        #expect(
            client.ask("WEBIRC secret webchat h.example 198.51.100.7")
                == ["ERROR :WEBIRC refused: too many wrong passwords; wait a minute"])
    }

    @Test func whatFollowsWaitsForTheAnswer() {
        let script = script()
        script.isHasherSlow = true
        let client = script.connect(address: "192.0.2.1")
        client.send("WEBIRC secret webchat h.example 198.51.100.7")
        let isBlocked = script.world.isInputBlocked(client.id)
        #expect(isBlocked)
        script.isHasherSlow = false
        script.apply(.tick)
        let isStillBlocked = script.world.isInputBlocked(client.id)
        #expect(!isStillBlocked)
        script.isHasherBusy = true
        let second = script.connect(address: "192.0.2.1")
        #expect(
            second.ask("WEBIRC secret webchat h.example 198.51.100.7")
                == ["ERROR :WEBIRC refused: the server is busy, try again"])
    }

    @Test func aGatewayThatLeavesMeanwhileLeavesNothingBehind() {
        let script = script()
        script.isHasherSlow = true
        let client = script.connect(address: "192.0.2.1")
        client.send("WEBIRC secret webchat h.example 198.51.100.7")
        client.drop()
        script.isHasherSlow = false
        script.apply(.tick)
        #expect(!script.notes.contains { $0.text.string.contains("connects for") })
    }
}
