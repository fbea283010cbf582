import Bytes
import Wire

let eraseCommand = Command(
    "ERASE", minimum: 1, access: .operators, privilege: .erase, source: "docs/PROTOCOL.md, Operators",
    help: [
        "ERASE <nick|=uid>",
        "Deletes a person for good: the identity, its places in channels and everything it ever said. It cannot be",
        "undone, and other people's words stay. A nick is somebody who is here or left lately; IDENTITY and WHOX tell",
        "the uid.", "Example: ERASE =u2k4x6abcdefg",
    ]
) { world, turn in
    guard let uid = world.erasable(turn[0]) else {
        return world.reply(turn, .ERR_NOSUCHNICK, "\(world.shown(turn[0])) :No such nick, now or lately, nor =uid")
    }
    if world.refuseWhileStoreFails(turn) { return }
    world.erase(turn, uid)
}

extension World {
    fileprivate func erasable(_ word: ByteView) -> UID? {
        if word.first == 0x3D { return UID(word.dropFirst()) }
        return correspondent(word)?.uid
    }

    fileprivate mutating func erase(_ turn: Turn, _ uid: UID) {
        noteOperator(turn, "erased \(uid.text)")
        // The answer comes first: who erases itself is gone afterwards.
        tell(
            turn.session,
            "NOTE ERASE \(uid.text) :The identity is gone; what it said is deleted from the disk in the next minutes")
        if let user = identities[uid] {
            for session in users[user].sessions {
                close(session, reason: "Erased", error: "Closing link: this identity was erased by an operator")
            }
        }
        for channel in channels.ids where channels[channel].state.founder == uid {
            channels[channel].state.founder = .none
            save(.saveChannel(channels[channel].state))
        }
        if let nick = departed.nick(of: uid, since: 0) { eraseSigns(of: nick) }
        departed.remove(uid)
        save(.erase(uid))
        eraseImages(of: uid)
    }

    /// Where the server notes by nick who did something.
    private mutating func eraseSigns(of nick: ByteString) {
        let key = NameKey(nick)
        former.removeAll { NameKey($0.nick) == key }
        func isOwn(_ source: ByteString) -> Bool {
            source.withView { NameKey($0.prefix($0.firstIndex(of: 0x21) ?? $0.count)) } == key
        }
        for channel in channels.ids {
            if isOwn(channels[channel].state.topicSetter) {
                channels[channel].state.topicSetter = settings.serverName
                save(.saveChannel(channels[channel].state))
            }
            for (letter, list) in channels[channel].lists {
                for index in list.indices where isOwn(list[index].setter) {
                    channels[channel].lists[letter]![index].setter = settings.serverName
                    let entry = channels[channel].lists[letter]![index]
                    save(.addListEntry(channel: channels[channel].state.id, mode: letter, entry))
                }
            }
        }
    }
}
