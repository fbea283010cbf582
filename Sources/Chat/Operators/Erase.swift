import Bytes
import Wire

let eraseCommand = Command(
    "ERASE", minimum: 1, access: .operators, privilege: .erase, source: "docs/PROTOCOL.md, Operators",
    help: [
        "ERASE <nick|account|=uid>",
        "Deletes a person for good: the identity, its account, its places in channels and everything it ever said. It",
        "cannot be undone, and other people's words stay. A nick is somebody who is here or left lately; IDENTITY and",
        "WHOX tell the uid.", "Example: ERASE =u2k4x6abcdefg",
    ]
) { world, turn in
    if world.refuseWhileStoreFails(turn) { return }
    guard let uid = world.erasable(turn) else { return }
    var errand = Errand(turn.session, .command("ERASE"), .erase(uid))
    errand.name = world.shown(turn[0])
    errand.operatorName = world.operatorName(turn)
    world.look(up: uid == .none ? .account(Names.fold(turn[0])) : .uid(uid), for: errand)
}

extension World {
    /// Whom the word means; `none`: whose account has this name, which the store knows. A nick that one has and an
    /// account of the same name that another has are not told apart by guessing. nil: the operator was told.
    fileprivate mutating func erasable(_ turn: Turn) -> UID? {
        let word = turn[0]
        if word.first == 0x3D, let uid = UID(word.dropFirst()) { return uid }
        let bearer =
            user(named: word).map { users[$0].uid }
            ?? departed.find(word, since: now.wall - settings.nickMemory)?.uid
        let owner = accounts.names.owner(of: word)
        if let bearer, let owner, bearer != owner {
            fail(
                turn, "AMBIGUOUS", "=\(bearer.text) has the nick, =\(owner.text) the account; name one of these",
                about: [shown(word)])
            return nil
        }
        if let uid = owner ?? bearer { return uid }
        if accounts.names.contains(word) { return UID.none }
        reply(turn, .ERR_NOSUCHNICK, "\(shown(word)) :No such nick, now or lately, nor account, nor =uid")
        return nil
    }

    mutating func erase(_ errand: Errand, _ uid: UID?) {
        guard let uid else { return refuse(errand, "NO_SUCH_ACCOUNT", "There is no such account any more") }
        if isStoreFailing { return refuse(errand, "TEMPORARILY_UNAVAILABLE", Self.notStoredText) }
        var told = errand
        told.name = uid.text
        note(told, "erased \(uid.text)", own: "")
        // The answer comes first: who erases itself is gone afterwards.
        confirmIfStored(told, "DONE", "The identity is gone; what it said is deleted from the disk in the next minutes")
        forget(uid, errand.answer?.account)
        save(.erase(uid))
        eraseImages(of: uid)
    }

    /// Nobody comes in as it any more who asked before, and nothing that World knows tells of it.
    private mutating func forget(_ uid: UID, _ account: AccountState?) {
        accounts.noteErasure(uid, question: lastQuestion, oldest: pending.keys.min() ?? .max)
        forgetArrivals(of: uid)
        if let account {
            noteChange(of: account.name)
            releaseName(account)
        }
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
