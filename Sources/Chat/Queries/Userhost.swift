import Bytes
import Wire

let userhostCommand = Command(
    "USERHOST", minimum: 1, source: "Modern IRC, USERHOST",
    help: ["USERHOST <nick> [nick…]", "User names and hosts of up to five people.", "Example: USERHOST ana"]
) { world, turn in
    var words: [ByteString] = []
    for i in 0..<min(turn.parameterCount, 5) {
        guard let id = world.user(named: turn[i]) else { continue }
        let user = world.users[id]
        words.append(
            "\(user.nick)\(user.isOperator ? "*" : "")=\(user.away.isEmpty ? "+" : "-")\(user.username)@\(user.host)")
    }
    world.reply(turn, .RPL_USERHOST, "", words: words)
}

let isonCommand = Command(
    "ISON", minimum: 1, source: "RFC 2812, ISON",
    help: ["ISON <nick> [nick…]", "Which of these people are here now.", "Example: ISON ana bo"]
) { world, turn in
    var words: [ByteString] = []
    for i in 0..<turn.parameterCount {
        for nick in turn[i].parts(0x20) {
            if let user = world.user(named: nick) { words.append(world.users[user].nick) }
        }
    }
    world.reply(turn, .RPL_ISON, "", words: words)
}
