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
        #expect(words(script.connect().ask("CAP LS 302")).contains("sts=port=6697,duration=86400"))
        let tls = words(script.connect(isTLS: true).ask("CAP LS 302"))
        #expect(tls.contains("sts=duration=86400") && !tls.contains { $0.contains("port=") })
    }

    private func words(_ lines: [String]) -> [Substring] {
        lines.flatMap {
            $0.split(separator: ":", maxSplits: 1).last?.split(whereSeparator: { " :".contains($0) }) ?? []
        }
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
