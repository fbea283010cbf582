import Bytes
import Chat
import TestKit
import Testing

/// Who may know what of a channel: the table of `Access.swift`, for every kind of reader at every door that shows
/// something of one.
@Suite struct AccessTests {
    @Test(arguments: Reader.all, Room.all) func whatTheTableSaysIsWhatTheDoorsShow(reader: Reader, room: Room) {
        for door in Door.all {
            let script = room.script()
            let client = reader.enter(script)
            let fay = script.fay
            reader.become(client, fay)
            room.close(fay)
            let lines = client.ask(door.line(script))
            let isAllowed = allows(door.fact, reader.standing, room) && room.has(door.fact)
            #expect(door.shows(lines) == isAllowed, "\(reader) \(room) \(door): \(lines)")
        }
    }

    @Test("Every fact of the table has a door") func everyFactIsTested() {
        #expect(Set(Door.all.map(\.fact)).union([.metadata]) == Set(ChannelFact.allCases))
    }

    private func allows(_ fact: ChannelFact, _ standing: Standing, _ room: Room) -> Bool {
        let order: [Standing] = [.anyone, .member, .reader, .halfop]
        let needed = room.isSecret ? fact.right.secret : fact.right.open
        return order.firstIndex(of: standing)! >= order.firstIndex(of: needed)!
    }

    // MARK: What is no channel's

    /// Direct messages are for the two, whoever asks and however.
    @Test(arguments: ["stranger", "operator", "neighbour"]) func directMessagesAreForTheTwo(kind: String) {
        let script = WorldScript({ $0.operators = [OperatorSettings(name: "root", hash: "hash:pw")] })
        let ana = script.client("ana")
        let bo = script.client("bo")
        let spy = script.client("spy", capabilities: "batch server-time message-tags draft/chathistory")
        for client in [ana, bo] + (kind == "neighbour" ? [spy] : []) { _ = client.ask("JOIN #cats") }
        if kind == "operator" { _ = spy.ask("OPER root pw") }
        ana.send("PRIVMSG bo :said-mark")
        bo.send("PRIVMSG ana :said-mark too")
        #expect(!spy.read().contains { $0.contains("said-mark") })
        let record = script.log.first { $0.text == "said-mark" }!
        let id = MessageID.text(record.position).string
        let uids = [record.conversation.a, record.conversation.b].map { "=\(UID(number: $0).text.string)" }
        for target in ["ana", "bo", "spy"] + uids {
            for question in [
                "CHATHISTORY LATEST \(target) * 9", "CHATHISTORY AROUND \(target) msgid=\(id) 9", "HISTORY \(target)",
                "CHANGES \(target) \(id)", "CHANGES \(target) 000000000000", "RECEIPTS \(target) \(id)",
                "SEARCH in=\(target)", "SEARCH in=\(target);text=said-mark", "SEARCH from=\(target)",
                "REDACT \(target) \(id)", "EDIT \(target) \(id) :x",
            ] {
                #expect(!spy.ask(question).contains { $0.contains("said-mark") }, "\(question)")
            }
        }
        #expect(!spy.ask("SEARCH said-mark").contains { $0.contains("PRIVMSG") })
        #expect(!spy.ask("CONVERSATIONS").contains { $0.contains("said-mark") })
        let all = "CHATHISTORY TARGETS timestamp=2020-01-01T00:00:00.000Z timestamp=2100-01-01T00:00:00.000Z 9"
        #expect(!spy.ask(all).contains { $0.contains(" TARGETS ana ") || $0.contains(" TARGETS bo ") })
        #expect(script.log.contains { $0.text == "said-mark" })
    }

    /// What everybody may see of people names no secret channel.
    @Test(arguments: [
        "MONITOR + mia", "WHOIS mia", "WHO *", "WHO mia %cn", "LIST *", "NAMES", "LUSERS", "WHOWAS mia", "SEARCH said",
        "CONVERSATIONS", "CHANNELS SUB", "METADATA mia LIST", "LASTSEEN mia", "USERHOST mia", "ISON mia",
        "CHATHISTORY TARGETS timestamp=2020-01-01T00:00:00.000Z timestamp=2100-01-01T00:00:00.000Z 9",
    ])
    func aSecretChannelIsNamedNowhere(question: String) {
        let room = Room(modes: "+s")
        let script = room.script()
        room.close(script.fay)
        let stranger = script.world.client("eve", capabilities: "extended-monitor away-notify invite-notify")
        #expect(!stranger.ask(question).contains { $0.contains("#room") })
        script.mia.send("AWAY :gone")
        script.mia.send("PART #room")
        #expect(!stranger.read().contains { $0.contains("#room") })
    }
}

// MARK: Rooms

struct Room: Sendable, CustomStringConvertible {
    /// What is set last, when everyone is where it should be.
    let modes: String

    static let all = ["+n", "+s", "+i", "+sik key-mark", "+k key-mark"].map { Room(modes: $0) }

    var description: String { modes }
    var isSecret: Bool { modes.contains("s") }

    func has(_ fact: ChannelFact) -> Bool { fact != .key || modes.contains("key-mark") }

    func script() -> RoomScript { RoomScript() }

    func close(_ fay: ScriptClient) { fay.send("MODE #room \(modes)") }
}

/// #room with fay, who founded it, and mia.
struct RoomScript {
    /// An operator may anything but drop channels, which is to know of one.
    let world = WorldScript({
        $0.operators = [OperatorSettings(name: "root", hash: "hash:pw", kind: "helper")]
        $0.operatorClasses = ["helper": Set(Privilege.allCases).subtracting([.drop])]
    })
    let fay: ScriptClient
    let mia: ScriptClient

    init() {
        fay = world.client("fay")
        mia = world.client("mia")
        fay.send("JOIN #room")
        mia.send("JOIN #room")
        fay.send("TOPIC #room :topic-mark")
        fay.send("MODE #room +b ban!mark@*")
        fay.send("MODE #room +e ex!mark@*")
        mia.send("PRIVMSG #room :said-mark")
    }

    var messageID: String {
        MessageID.text(world.log.first { $0.text == "said-mark" }?.position ?? 0).string
    }
}

// MARK: Readers

struct Reader: Sendable, CustomStringConvertible {
    let description: String
    let standing: Standing
    /// Whether it was in the room once.
    var hasBeenIn = true
    var isRegistered = true
    /// What fay does to it, and what it does itself (after `>`).
    var steps: [String] = []

    static let all: [Reader] = [
        Reader(description: "visitor", standing: .anyone, hasBeenIn: false, isRegistered: false),
        Reader(description: "stranger", standing: .anyone, hasBeenIn: false),
        Reader(description: "server operator", standing: .anyone, hasBeenIn: false, steps: [">OPER root pw"]),
        Reader(description: "banned stranger", standing: .anyone, hasBeenIn: false, steps: ["MODE #room +b rea!*@*"]),
        Reader(description: "invited", standing: .anyone, hasBeenIn: false, steps: ["INVITE rea #room"]),
        Reader(description: "former member", standing: .anyone, steps: [">PART #room"]),
        Reader(description: "former operator", standing: .anyone, steps: ["MODE #room +o rea", ">PART #room"]),
        Reader(description: "kicked", standing: .anyone, steps: ["KICK #room rea"]),
        Reader(
            description: "kicked and banned", standing: .anyone, steps: ["KICK #room rea", "MODE #room +b rea!*@*"]),
        Reader(
            description: "kicked server operator", standing: .anyone, steps: [">OPER root pw", "KICK #room rea"]),
        Reader(description: "member", standing: .reader),
        Reader(description: "member under another nick", standing: .reader, steps: [">NICK reader"]),
        Reader(description: "member that rejoined", standing: .reader, steps: ["KICK #room rea", ">JOIN #room"]),
        Reader(description: "muted member", standing: .reader, steps: ["MODE #room +b m:rea!*@*"]),
        Reader(description: "banned member", standing: .member, steps: ["MODE #room +b rea!*@*"]),
        Reader(
            description: "banned server operator", standing: .member,
            steps: [">OPER root pw", "MODE #room +b rea!*@*"]),
        Reader(
            description: "excepted member", standing: .reader,
            steps: ["MODE #room +b rea!*@*", "MODE #room +e rea!*@*"]),
        Reader(
            description: "member whose ban was lifted", standing: .reader,
            steps: ["MODE #room +b rea!*@*", "MODE #room -b rea!*@*"]),
        Reader(
            description: "banned with voice", standing: .reader,
            steps: ["MODE #room +v rea", "MODE #room +b rea!*@*"]),
        Reader(description: "half operator", standing: .halfop, steps: ["MODE #room +h rea"]),
        Reader(description: "operator", standing: .halfop, steps: ["MODE #room +o rea"]),
    ]

    func enter(_ script: RoomScript) -> ScriptClient {
        guard isRegistered else { return script.world.connect() }
        let client = script.world.client(
            "rea", capabilities: "batch server-time message-tags draft/chathistory draft/read-marker")
        if hasBeenIn {
            client.send("JOIN #room")
            client.send("MARKREAD #room timestamp=2020-01-01T00:00:00.000Z")
        }
        return client
    }

    func become(_ client: ScriptClient, _ fay: ScriptClient) {
        for step in steps {
            if step.hasPrefix(">") { client.send(String(step.dropFirst())) } else { fay.send(step) }
        }
    }
}

// MARK: Doors

struct Door: Sendable, CustomStringConvertible {
    let description: String
    let fact: ChannelFact
    let shows: @Sendable ([String]) -> Bool

    func line(_ script: RoomScript) -> String { description.replacing("MSGID", with: script.messageID) }

    static let all: [Door] =
        marked("LIST", .existence, " 322 ") + marked("LIST #room", .existence, " 322 ")
        + marked("LIST *room*", .existence, " 322 ") + marked("LIST >1", .topic, "topic-mark")
        + marked("LIST #room", .topic, "topic-mark") + marked("TOPIC #room", .topic, "topic-mark")
        + marked("MODE #room", .modes, " 324 ") + marked("MODE #room", .key, "key-mark")
        + marked("MODE #room +b", .bans, "ban!mark") + marked("MODE #room +e", .exceptions, "ex!mark")
        + marked("NAMES #room", .members, "mia") + marked("WHO #room", .members, " mia ")
        + marked("WHO #room %cn", .members, " mia") + marked("WHO mia", .members, "#room")
        + marked("WHO m*", .members, "#room") + marked("WHOIS mia", .members, "#room")
        + marked("CHATHISTORY LATEST #room * 50", .history, "said-mark")
        + marked("CHATHISTORY AROUND #room msgid=MSGID 50", .history, "said-mark")
        + marked("CHATHISTORY BEFORE #room timestamp=2100-01-01T00:00:00.000Z 50", .history, "said-mark")
        + marked("CHATHISTORY AFTER #room timestamp=2020-01-01T00:00:00.000Z 50", .history, "said-mark")
        + marked(
            "CHATHISTORY TARGETS timestamp=2020-01-01T00:00:00.000Z timestamp=2100-01-01T00:00:00.000Z 50", .history,
            " TARGETS #room ")
        + marked("HISTORY #room", .history, "said-mark") + marked("HISTORY #room 2026-01-01", .history, "said-mark")
        + marked("CHANGES #room 000000000000", .history, "said-mark")
        + marked("SEARCH text=said-mark", .history, "said-mark") + marked("SEARCH in=#room", .history, "said-mark")
        + marked("SEARCH from=mia", .history, "said-mark")
        + marked("CONVERSATIONS", .history, "CONVERSATION #room ")
        + unrefused("RECEIPTS #room MSGID", .history, "INVALID_TARGET")
        + unrefused("EDIT #room MSGID :x", .history, "INVALID_TARGET")
        + unrefused("REDACT #room MSGID", .history, "INVALID_TARGET")
        + marked("MARKREAD #room", .readMark, " MARKREAD #room timestamp=")
        + marked("MARKREAD #room timestamp=2021-01-01T00:00:00.000Z", .readMark, " MARKREAD #room timestamp=2021-01-01")
        // Whether there is such a channel is told by the code of the refusal too.
        + [
            "TOPIC #room", "TOPIC #room :x", "MODE #room +t", "PART #room", "KICK #room mia", "INVITE fay #room",
            "PRIVMSG #room :x", "RENAME #room #new", "DROP #room", "RETENTION #room",
        ].flatMap { unrefused($0, .existence, " 403 ") }

    private static func marked(_ line: String, _ fact: ChannelFact, _ mark: String) -> [Door] {
        [Door(description: line, fact: fact) { $0.contains { $0.contains(mark) && !$0.contains("FAIL") } }]
    }

    private static func unrefused(_ line: String, _ fact: ChannelFact, _ code: String) -> [Door] {
        [Door(description: line, fact: fact) { !$0.contains { $0.contains(code) } }]
    }
}
