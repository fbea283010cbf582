import Bytes
import Wire

let setnameCommand = Command(
    "SETNAME", minimum: 1, source: "IRCv3 setname",
    help: ["SETNAME :<name>", "Changes the name that is shown beside your nick.", "Example: SETNAME :Ana of the hills"]
) { world, turn in
    let name = world.freeText(turn, 0)
    let limit = world.settings.limits.realnameLength
    guard !name.trimmed.isEmpty, name.count <= limit else {
        return world.fail(turn, "INVALID_REALNAME", "A name has 1 to \(limit) bytes")
    }
    world.rename(turn.me, displayName: ByteString(name))
    if world.sessions[turn.session].isPlain {
        world.notice(turn.session, "Your name is \(name) now")
    }
}

extension World {
    fileprivate mutating func rename(_ user: UserID, displayName: ByteString) {
        users[user].realname = displayName
        if users[user].isKept { save(.saveIdentity(users[user].stored(now: now.wall))) }
        var line = outgoing(from: user, "SETNAME :\(displayName)")
        for channel in users[user].channels {
            line.time = max(line.time, record(.setname, by: user, in: channel, ":\(displayName)").time)
        }
        var forms = Forms(interest: line.interest)
        let audience = neighboursAndWatchers(of: user)
        relay(line, to: audience, &forms, needing: .setname)
    }
}
