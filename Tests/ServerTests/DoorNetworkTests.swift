import TestKit
import Testing

/// Limits of whole networks at the door, where those who come through a gateway count for their own.
@Suite struct DoorNetworkTests {
    @Test("One connection too many of a network reads why and is closed; another network has its own share")
    func share() throws {
        var configuration = ServerConfiguration().with("networks", "connections", "1")
        configuration.gateways = [(name: "web", password: "secret")]
        let server = try ServerProcess(configuration)
        func come(_ nick: String, from address: String) throws -> LineClient {
            let client = try server.connect(nick)
            try client.send("WEBIRC secret web host.example \(address)", "NICK \(nick)", "USER \(nick) 0 * :\(nick)")
            return client
        }
        let ana = try come("ana", from: "198.51.100.7")
        try ana.expect(" 001 ")
        defer { ana.close() }
        let bo = try come("bo", from: "198.51.100.7")
        #expect(try bo.readToEnd().contains { $0.text.hasPrefix("ERROR :Too many connections from your network") })
        try come("cy", from: "198.51.100.8").expect(" 001 ")
    }
}
