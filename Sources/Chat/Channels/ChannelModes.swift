package import Bytes
package import Wire

/// One channel mode.
package struct ChannelMode: Sendable {
    package let letter: UInt8
    package let kind: ModeKind
    /// The lowest rank that may change it.
    let least: Ranks

    init(_ letter: Unicode.Scalar, _ kind: ModeKind, least: Ranks = .halfop) {
        self.letter = UInt8(ascii: letter)
        self.kind = kind
        self.least = least
    }
}

/// The channel modes: the one table behind MODE, 004 and 005.
package enum ChannelModes {
    package static let rows: [ChannelMode] = [
        // Lists: who may not come in, who may all the same, who may past +i.
        ChannelMode("b", .list), ChannelMode("e", .list), ChannelMode("I", .list),
        ChannelMode("k", .always),
        // Lines and seconds (`5:10`) that each member may send.
        ChannelMode("f", .onSet),
        ChannelMode("l", .onSet),
        // No CTCP but ACTION.
        ChannelMode("C", .flag),
        // What is said is not kept.
        ChannelMode("H", .flag, least: .op),
        // Only accounts may speak.
        ChannelMode("M", .flag),
        // Only accounts may come in.
        ChannelMode("R", .flag),
        // What members without a rank say is heard by half-operators and up.
        ChannelMode("U", .flag),
        ChannelMode("i", .flag), ChannelMode("m", .flag), ChannelMode("n", .flag),
        ChannelMode("s", .flag, least: .op), ChannelMode("t", .flag),
        // Ranks; the founder counts as an owner here.
        ChannelMode("q", .always, least: .owner), ChannelMode("o", .always, least: .op),
        ChannelMode("h", .always, least: .op), ChannelMode("v", .always),
    ]

    private static let byLetter: [ChannelMode?] = (0..<128).map { letter in rows.first { $0.letter == letter } }

    package static func row(_ letter: UInt8) -> ChannelMode? { letter < 128 ? byLetter[Int(letter)] : nil }

    /// Every letter, for 004.
    package static let letters = ByteString(rows.map(\.letter).sorted())

    /// The letters that come with a parameter, for 004.
    package static let lettersWithParameter = ByteString(
        rows.filter { $0.kind != .flag }.map(\.letter).sorted())

    /// `beI,k,fl,CHMRUimnst` (Modern IRC, CHANMODES).
    package static let chanModes: ByteString =
        "\(letters(of: .list)),\(letters(of: .always)),\(letters(of: .onSet)),\(letters(of: .flag))"

    /// `(qohv)~@%+` (Modern IRC, PREFIX).
    package static let prefix: ByteString =
        "(\(ByteString(Ranks.ladder.map(\.letter))))\(ByteString(Ranks.ladder.map(\.prefix)))"

    private static func letters(of kind: ModeKind) -> ByteString {
        ByteString(rows.filter { $0.kind == kind && Ranks.named($0.letter) == nil }.map(\.letter))
    }
}

extension Ranks {
    /// The rank of a mode letter.
    package static func named(_ letter: UInt8) -> Ranks? { ladder.first { $0.letter == letter }?.rank }

    /// The highest rank alone.
    package var highest: Ranks { Ranks.ladder.first { contains($0.rank) }?.rank ?? [] }

    func isBelow(_ other: Ranks) -> Bool { highest.rawValue < other.highest.rawValue }
}

extension World {
    var channelModeLetters: ByteString { ChannelModes.letters }
    var channelModeLettersWithParameter: ByteString { ChannelModes.lettersWithParameter }
}
