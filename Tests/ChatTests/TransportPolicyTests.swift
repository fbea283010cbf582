import Bytes
import Chat
import TestKit
import Testing

/// IRCv3 sts.
@Suite struct TransportPolicyTests {
    private let script = WorldScript {
        $0.stsPort = 6697
        $0.stsDuration = 86_400
    }

    @Test func plainConnectionsAreSentToThePort() {
        #expect(script.connect().ask("CAP LS 302").joined().contains(" sts=port=6697,duration=86400"))
        let tls = script.connect(isTLS: true).ask("CAP LS 302").joined()
        #expect(tls.contains(" sts=duration=86400") && !tls.contains("port="))
    }

    @Test func itIsToldAndNeverGranted() {
        let client = script.connect()
        #expect(!client.ask("CAP LS").joined().contains("sts"))
        for request in ["sts", "sts=port=6697", "-sts", "batch sts"] {
            #expect(client.ask("CAP REQ :\(request)") == [":parley.test CAP * NAK :\(request)"])
        }
        #expect(client.ask("CAP LIST") == [":parley.test CAP * LIST :"])
    }

    @Test func withoutAPortThereIsNone() {
        #expect(!WorldScript().connect(isTLS: true).ask("CAP LS 302").joined().contains("sts"))
    }
}
