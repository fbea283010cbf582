import Bytes
import Wire

let awayCommand = Command(
    "AWAY", source: "Modern IRC, AWAY; IRCv3 away-notify",
    help: ["AWAY [text]", "Says that you are away and why; alone, that you are back.", "Example: AWAY :lunch"]
) { world, turn in
    let given = world.freeText(turn, 0)
    let limit = world.settings.limits.awayLength
    world.changeAway(turn.me, ByteString(given.prefix(UTF8Check.scalarBoundary(given, atMost: limit))), turn.session)
    if given.isEmpty {
        world.reply(turn, .RPL_UNAWAY, ":You are no longer marked as being away")
    } else {
        world.reply(turn, .RPL_NOWAWAY, ":You have been marked as being away")
    }
}

extension World {
    /// Away is the user's, whatever the session; who shares a channel hears it if it asked to.
    fileprivate mutating func changeAway(_ user: UserID, _ text: ByteString, _ session: ConnectionID) {
        if users[user].away == text { return }
        users[user].away = text
        let line = outgoing(from: user, text.isEmpty ? "AWAY" : "AWAY :\(text)")
        var forms = Forms(interest: line.interest)
        let audience = neighbours(of: user)
        relay(line, to: audience, &forms, except: session, needing: .awayNotify)
    }
}
