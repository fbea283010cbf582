import Bytes
import Testing
import Wire

@Suite struct NetworkTests {
    private func network(_ text: String) -> Network? { ByteString(text).withView { Network($0) } }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7"), ("192.0.2.0/24", "192.0.2.255"), ("192.0.2.99/24", "192.0.2.1"),
        ("192.0.2.0/25", "192.0.2.127"), ("0.0.0.0/0", "255.255.255.255"), ("2001:db8::/32", "2001:db8:ffff::1"),
        ("2001:DB8::1", "2001:db8:0:0:0:0:0:1"), ("::/0", "2001:db8::1"), ("::1", "0:0:0:0:0:0:0:1"),
        ("2001:db8:0:0:8000::/65", "2001:db8::8000:0:0:1"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.0/120", "192.0.2.77"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("192.0.2.0/24", "192.0.2.4/30"),
    ])
    func holds(_ wide: String, _ narrow: String) throws {
        #expect(try #require(network(wide)).contains(try #require(network(narrow))))
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.8"), ("192.0.2.0/24", "192.0.3.0"), ("192.0.2.0/25", "192.0.2.128"),
        ("2001:db8::/32", "2001:db9::"), ("2001:db8:0:0:8000::/65", "2001:db8::1"), ("0.0.0.0/0", "2001:db8::1"),
        ("192.0.2.4/30", "192.0.2.0/24"),
    ])
    func doesNotHold(_ network: String, _ other: String) throws {
        #expect(try !#require(self.network(network)).contains(try #require(self.network(other))))
    }

    @Test func equalityIsOfWhatIsHeld() {
        #expect(network("192.0.2.1/24") == network("192.0.2.0/24"))
        #expect(network("192.0.2.0/24") != network("192.0.2.0/25"))
        #expect(network("2001:db8::/32") == network("2001:0DB8:0::/32"))
    }

    @Test(arguments: [
        "", "/", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/x", "01.2.3.4", "1.2.3.4 ",
        "*", "1.2.3.*", "::/129", ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::",
        "12345::", "g::", "::1.2.3", "1.2.3.4::", "1:2:3:4:5:6:7:1.2.3.4", "-1.2.3.4", "1.2.3.4/24/8",
    ])
    func isRefused(_ text: String) { #expect(network(text) == nil) }
}
