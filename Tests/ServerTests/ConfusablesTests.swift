import Bytes
import Server
import Testing

@Suite struct ConfusablesTests {
    private let confusables: Confusables

    init() throws { confusables = try Confusables() }

    private func skeleton(_ name: String) -> ByteString { ByteString(name).withView { confusables.skeleton($0) } }

    @Test(arguments: [
        ("evan", "\u{435}van"),  // Cyrillic ie
        ("evan", "EVAN"), ("evan", "\u{FF45}van"),  // full width
        ("paypal", "p\u{430}yp\u{430}l"), ("caf\u{E9}", "cafe\u{301}"),
        ("scope", "\u{455}\u{441}\u{43E}\u{440}\u{435}"),
        ("rnike", "mike"), ("\u{3BF}na", "ona"),
    ])
    func looksAlike(one: String, other: String) {
        #expect(skeleton(one) == skeleton(other))
    }

    @Test(arguments: [("evan", "ivan"), ("ana", "anna"), ("мир", "mir"), ("", "a"), ("ana", "\u{E1}na")])
    func looksDifferent(one: String, other: String) {
        #expect(skeleton(one) != skeleton(other))
    }

    @Test func theLongestGrowthHasRoom() {
        // U+FDFA becomes 18 characters.
        let long = String(repeating: "\u{FDFA}", count: 21)
        #expect(skeleton(long).count > 21 * 18)
        #expect(skeleton(long) != skeleton(String(long.dropLast())))
    }
}
