import Bytes
import Wire

let awayCommand = Command(
    "AWAY", early: .preAway, source: "Modern IRC, AWAY; IRCv3 away-notify, pre-away",
    help: ["AWAY [text]", "Says that you are away and why; alone, that you are back.", "Example: AWAY :lunch"]
) { world, turn in
    let given = world.freeText(turn, 0)
    let limit = world.settings.limits.awayLength
    let text = ByteString(given.prefix(UTF8Check.scalarBoundary(given, atMost: limit)))
    // The client connected by itself and says nothing of where its person is (IRCv3 pre-away).
    let isAbsent = text == "*" && world.capabilities[Int(turn.session.index)].contains(.preAway)
    world.sessions[turn.session].isAbsent = isAbsent
    if let user = turn.user {
        if !isAbsent { world.changeAway(user, text, turn.session) }
        world.settleAbsence(user, turn.session)
    } else {
        world.openings[turn.session.index]?.away = isAbsent ? "" : text
    }
    if given.isEmpty {
        world.reply(turn, .RPL_UNAWAY, ":You are no longer marked as being away")
    } else {
        world.reply(turn, .RPL_NOWAWAY, ":You have been marked as being away")
    }
}

extension World {
    /// What is shown of a user all of whose connections are there without a person.
    private static var absentText: ByteString { "Away" }

    /// Away is the user's, whatever the session; who shares a channel hears it if it asked to.
    mutating func changeAway(_ user: UserID, _ text: ByteString, _ session: ConnectionID? = nil) {
        users[user].isAbsent = false
        if users[user].away == text { return }
        users[user].away = text
        let line = outgoing(from: user, text.isEmpty ? "AWAY" : "AWAY :\(text)")
        var forms = Forms(interest: line.interest)
        let audience = neighboursAndWatchers(of: user)
        relay(line, to: audience, &forms, except: session, needing: .awayNotify)
    }

    /// What was said by AWAY before registration takes effect.
    mutating func startAway(_ user: UserID, _ session: ConnectionID, _ opening: Opening) {
        if let away = opening.away, !sessions[session].isAbsent { changeAway(user, away, session) }
        settleAbsence(user, session)
    }

    /// A connection that said `AWAY *` counts as none: a text set by another one stands, and without one the user is
    /// away while there are only such connections (IRCv3 pre-away, implementation considerations).
    mutating func settleAbsence(_ user: UserID, _ session: ConnectionID? = nil) {
        let areAllAbsent = users[user].sessions.allSatisfy { sessions[$0].isAbsent }
        if areAllAbsent, users[user].away.isEmpty, !users[user].sessions.isEmpty {
            changeAway(user, Self.absentText, session)
            users[user].isAbsent = true
        } else if !areAllAbsent, users[user].isAbsent {
            changeAway(user, "", session)
        }
    }
}
