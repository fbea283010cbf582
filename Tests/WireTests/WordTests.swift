import Bytes
import Testing
import Wire

struct CapabilityTests {
    @Test func everyRowHasItsNameAndBit() {
        #expect(Set(Capabilities.table.map(\.bit.rawValue)).count == Capabilities.table.count)
        for row in Capabilities.table {
            #expect(Capabilities.named(ByteView(row.name)) == row.bit)
            #expect(row.bit.rawValue.nonzeroBitCount == 1)
        }
        #expect(Capabilities.named(ByteView("Batch")) == nil && Capabilities.named(.empty) == nil)
    }

    @Test func ownNamesCarryTheVendorPrefix() {
        for row in Capabilities.table where ByteView(row.name).contains(0x2E) {
            // A bouncer's, which others have taken over.
            #expect(ByteView(row.name).hasPrefix(Vendor.prefix) || ByteView(row.name) == "soju.im/search")
        }
    }

    @Test func listsNamesAndValues() {
        #expect(Capabilities.list([.sasl, .batch], values: false) == "batch sasl")
        #expect(
            Capabilities.list([.sasl, .idempotent], values: true)
                == "sasl parley.chat/idempotent=max-length=64,seconds=86400")
        #expect(Capabilities.list([], values: true).isEmpty)
    }

    @Test func requestsAreGrantedAsAWhole() throws {
        func request(_ list: String) -> CapabilityRequest? { with(list) { CapabilityRequest(parsing: $0) } }
        let both = try #require(request(" batch  -sasl server-time "))
        #expect(both.enable == [.batch, .serverTime] && both.disable == .sasl)
        #expect(both.applied(to: [.sasl, .setname]) == [.batch, .serverTime, .setname])
        #expect(request("batch unknown") == nil && request("-") == nil && request("sasl=PLAIN") == nil)
        #expect(request("batch -batch")?.applied(to: .batch) == [])
        #expect(request("-batch batch")?.applied(to: []) == .batch)
        #expect(request("")?.enable == [])
    }
}

struct ReplyTests {
    @Test func numericsAreThreeDigits() {
        func digits(_ numeric: Numeric) -> String {
            var buffer = ByteBuffer()
            numeric.write(into: &buffer)
            return buffer.view.description
        }
        #expect(digits(.RPL_WELCOME) == "001" && digits(.RPL_BOUNCE) == "010" && digits(.ERR_INPUTTOOLONG) == "417")
        #expect(Numeric.allCases.allSatisfy { digits($0).count == 3 && UInt16(digits($0)) == $0.rawValue })
        // Errors and replies stand where the documents have them.
        for numeric in Numeric.allCases where (400..<600).contains(numeric.rawValue) {
            #expect("\(numeric)".hasPrefix("ERR_"))
        }
        for numeric in Numeric.allCases where numeric.rawValue < 400 { #expect("\(numeric)".hasPrefix("RPL_")) }
    }

    @Test func standardRepliesKeepTheGrammar() throws {
        #expect(
            StandardReplies.fail("EDIT" as ByteString, "UNKNOWN_MSGID", ["#a", "x1"], "No such message")
                == "FAIL EDIT UNKNOWN_MSGID #a x1 :No such message")
        #expect(StandardReplies.warn("*", "SLOW", [], "Slow down") == "WARN * SLOW :Slow down")
        #expect(StandardReplies.note("ACKS", "SENT", ["m"], "") == "NOTE ACKS SENT m :")
        let broken: [ByteString] = ["a b", "", ":x", "a\nb", ByteString([0xC3])]
        let line = StandardReplies.fail(ByteView("a b"), "CODE", broken, "text")
        #expect(line == "FAIL * CODE * * * * * :text")
        let parsed = try #require(line.withView { Message(parsing: $0)?.parameterCount })
        #expect(parsed == 8)
    }

    @Test func groupsISupportTokens() {
        let tokens: [ByteString] = (0..<30).map { "T\($0)=1" }
        let groups = ISupport.groups(tokens, overhead: 60)
        #expect(groups.map { $0.withView { $0.parts(0x20).count } } == [13, 13, 4])
        #expect(
            ByteString(groups.map(\.string).joined(separator: " ")).withView { $0.parts(0x20).map { ByteString($0) } }
                == tokens)
        let long: [ByteString] = (0..<5).map { _ in ByteString([UInt8](repeating: 0x41, count: 200)) }
        #expect(ISupport.groups(long, overhead: 110).map(\.count) == [401, 401, 200])
        #expect(ISupport.groups(long, overhead: 112).map(\.count) == [200, 200, 200, 200, 200])
        #expect(ISupport.groups([], overhead: 0).isEmpty)
        #expect(with(#"a b=c\d"#) { ISupport.escape($0) }.string == #"a\x20b\x3Dc\x5Cd"#)
    }

    @Test(arguments: [
        ("JION", "JOIN"), ("jon", "JOIN"), ("PRVMSG", "PRIVMSG"), ("prvimgs", "PRIVMSG"), ("HLEP", "HELP"),
        ("QUITT", "QUIT"),
        ("help", "HELP"), ("HISTROY", "HISTORY"),
    ])
    func namesTheNearestWord(typed: String, meant: String) {
        #expect(nearest(typed) == meant)
    }

    @Test(arguments: ["", "X", "ZZZZ", "HEXX", "supercalifragilistic", "J", "PRV"])
    func namesNoneThatIsFar(typed: String) { #expect(nearest(typed) == nil) }

    private func nearest(_ typed: String) -> String? {
        with(typed) {
            nearestWord($0, among: ["JOIN", "PART", "PRIVMSG", "HELP", "HISTORY", "QUIT", "WHO"])?.description
        }
    }
}

struct GarbageTests {
    /// Nothing that strangers can send traps.
    @Test func everyParserTakesAnyBytes() {
        var random = Seeded(state: 7)
        let alphabet = bytes("@:;=\\ +-#a0Z\u{8}é")
        for _ in 0..<4000 {
            let input = random.bytes(Int.random(in: 0..<40, using: &random), of: alphabet)
            with(input) { view in
                if let message = Message(parsing: view) {
                    for i in 0..<message.parameterCount { _ = (message[i], message.rest(from: i)) }
                    _ = Tags.isValid(message.tags)
                }
                _ = (Names.isValidNick(view), Names.isValidChannel(view), Names.sanitizeUser(view), NameKey(view))
                _ = (Times.parse(view), Times.duration(view), Source(view), UTF8Check.isValid(view))
                _ = CapabilityRequest(parsing: view)
                _ = nearestWord(view, among: ["JOIN", "PRIVMSG"])
                _ = ModeParser.parse(view) { _ in
                    nil
                } kinds: { _ in
                    .list
                }
                var edited = ByteBuffer()
                _ = LineEditing.apply(view, into: &edited)
            }
        }
    }
}
