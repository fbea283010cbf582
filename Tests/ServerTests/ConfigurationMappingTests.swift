import Bytes
import Chat
import Net
import Server
import Testing

@Suite struct ConfigurationMappingTests {
    let text = """
        [[listen]]
        address = "::"
        port = 7000
        mode = "both"
        [server]
        name = "irc.example.org"
        network = "Example"
        password = "let me in"
        admin = ["Here"]
        welcome-channel = ""
        [guests]
        session-limit = 3
        show-token = false
        [history]
        visibility = "joined"
        [limits]
        nick-length = 20
        registration-seconds = "1500ms"
        send-queue = "128KiB"
        handshake-seconds = 3
        connections-per-address = 7
        [flood]
        enabled = false
        [[operator]]
        name = "ana"
        password = "plain:x"
        """

    @Test func theCoreIsToldInItsWords() throws {
        let configuration = try configuration(text)
        let places = Places(configuration, Environment())
        let motd = Motd(text: "hello {users}", server: "", network: "")
        let settings = configuration.settings(places, motd: motd, started: 5)
        #expect(settings.serverName == "irc.example.org" && settings.network == "Example")
        #expect(settings.password == "let me in" && settings.admin == ["Here"] && settings.welcomeChannel == "")
        #expect(settings.motd == ["hello {users}"] && settings.started == 5)
        #expect(settings.historySinceJoin && !settings.showGuestToken && !settings.flood.enabled)
        #expect(settings.limits.nickLength == 20 && settings.limits.sessionsPerIdentity == 3)
        #expect(settings.limits.registrationTimeout == 1500 && settings.limits.pingInterval == 120_000)
        #expect(settings.operators == [OperatorSettings(name: "ana", hash: "plain:x", kind: "admin")])
    }

    @Test func theDefaultsOfTheRoomsAgree() throws {
        let configuration = Configuration()
        let settings = configuration.settings(
            Places(configuration, Environment()), motd: Motd(text: "", server: "", network: ""), started: 0)
        #expect(settings.limits == Settings().limits)
        #expect(settings.flood == Settings().flood)
        #expect(settings.replay == Settings().replay && settings.page == Settings().page)
        #expect(settings.guestPrefix == Settings().guestPrefix)
    }

    @Test func theNetIsToldInItsWords() throws {
        let configuration = try configuration(text)
        let net = configuration.netLimits(descriptorLimit: 1024)
        #expect(net.sendQueueBytes == 131_072 && net.handshakeTimeoutMs == 3000 && net.connectionsPerAddress == 7)
        let listener = try #require(configuration.listenerSpecs.first)
        #expect(listener.address == "::" && listener.port == 7000 && listener.mode == .both)
    }

    @Test(arguments: [(0, 1024, 960), (100, 1024, 100), (5000, 1024, 960), (0, 10, 1)])
    func connectionsFitTheDescriptors(_ configured: Int, _ descriptors: Int, _ expected: Int) throws {
        let net = try configuration("[limits]\nconnections = \(configured)").netLimits(descriptorLimit: descriptors)
        #expect(net.maximumConnections == expected)
    }
}
