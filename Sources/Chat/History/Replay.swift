import Bytes
import Wire

extension World {
    /// The last messages of a channel, for who just came in. They stand between the channel's names and what is said
    /// from now on. Who knows draft/chathistory asks for what it lacks and gets nothing by itself.
    mutating func replay(_ channel: ChannelID, to session: ConnectionID, upTo newest: Int64) {
        let mine = capabilities[Int(session.index)]
        guard settings.replay > 0, !mine.contains(.chathistory), let user = sessions[session].user,
            let target = readable(channel, by: user), target.oldest <= newest
        else { return }
        ask(
            pageRequest(session, user, target, .join), .latest(after: nil), limit: settings.replay, upTo: newest)
    }

    func pageRequest(
        _ session: ConnectionID, _ user: UserID, _ target: Readable, _ purpose: PageRequest.Purpose
    ) -> PageRequest {
        let mine = capabilities[Int(session.index)]
        var form: PageRequest.Form = sessions[session].isPlain ? .readable : .notices
        if mine.isSuperset(of: [.batch, .serverTime]) { form = .batch }
        return PageRequest(
            session: session, purpose: purpose, form: form, capabilities: mine, target: target,
            reader: users[user].uid, nick: users[user].nick)
    }
}
