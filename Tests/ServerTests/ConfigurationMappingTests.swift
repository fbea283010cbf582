import Bytes
import Chat
import Server
import Testing

@Suite struct ConfigurationMappingTests {
    let text = """
        [server]
        network = "Example"
        password = "let me in"
        admin = ["Here"]
        welcome-channel = ""
        user-modes = "i"
        [tls]
        certificate = "c"
        key = "k"
        sts-port = 6697
        sts-duration = 30
        [guests]
        session-limit = 3
        nick-memory = "12h"
        show-token = false
        [accounts]
        registration = false
        mail-command = ["sendmail"]
        code-lifetime = 60
        [history]
        visibility = "joined"
        [limits]
        nick-length = 20
        registration-seconds = "1500ms"
        list-delay = 2
        metadata-keys = 4
        [networks]
        burst = 9
        rate = 8
        [images]
        types = ["image/png", "image/gif"]
        guest-size = "64KiB"
        idle = 5
        [flood]
        enabled = false
        [[webirc]]
        name = "webchat"
        password = "plain:y"
        hosts = ["127.0.0.1", "10.0.0.0/8"]
        [[operator]]
        name = "ana"
        password = "plain:x"
        class = "helper"
        [[operator-class]]
        name = "helper"
        privileges = ["kill", "see-addresses"]
        """

    @Test func theCoreIsToldInItsWords() throws {
        let configuration = try configuration(text)
        let motd = Motd(text: "hello {users}", server: "", network: "")
        let settings = Settings(configuration, serverName: "irc.example.org", motd: motd, started: 5)
        #expect(settings.serverName == "irc.example.org" && settings.network == "Example")
        #expect(settings.password == "let me in" && settings.admin == ["Here"] && settings.welcomeChannel == "")
        #expect(settings.motd == ["hello {users}"] && settings.started == 5)
        #expect(settings.historySinceJoin && !settings.showGuestToken && !settings.flood.enabled)
        #expect(settings.nickMemory == 12 * 3_600_000)
        #expect(settings.limits.nickLength == 20 && settings.limits.sessionsPerIdentity == 3)
        #expect(settings.limits.registrationTimeout == 1500 && settings.limits.pingInterval == 120_000)
        #expect(settings.operators == [OperatorSettings(name: "ana", hash: "plain:x", kind: "helper")])
        #expect(settings.operatorClasses == ["helper": [.kill, .seeAddresses]])
        #expect(settings.limits.listDelay == 2000 && settings.limits.metadataKeys == 4)
        #expect(!settings.accounts.isOpen && settings.accounts.hasMail && settings.accounts.codeLifetime == 60_000)
        #expect(settings.flood.networkBurst == 9 && settings.flood.networkRate == 8 && settings.userModes == .invisible)
        #expect(settings.images.types == [.png, .gif] && settings.images.guestSize == 64 << 10)
        #expect(settings.images.idle == 300_000)
        #expect(settings.stsPort == 6697 && settings.stsDuration == 30 * 86_400)
        #expect(
            settings.gateways
                == [GatewaySettings(name: "webchat", hash: "plain:y", hosts: ["127.0.0.1", "10.0.0.0/8"])])
    }

    @Test func theDefaultsOfTheRoomsAgree() throws {
        let configuration = Configuration()
        let settings = Settings(
            configuration, serverName: "", motd: Motd(text: "", server: "", network: ""), started: 0)
        #expect(settings.limits == Settings().limits)
        #expect(settings.flood == Settings().flood)
        #expect(settings.accounts == Settings().accounts)
        #expect(settings.images == Settings().images)
        #expect(settings.replay == Settings().replay && settings.page == Settings().page)
        #expect(settings.guestPrefix == Settings().guestPrefix)
    }
}
