import Bytes
import Wire

/// Each kind of change that MODE makes to a channel. Only what changes something is told.
extension World {
    mutating func changeMode(_ change: ModeChange, _ work: inout ModeWork) {
        guard mayChange(change, &work), let row = ChannelModes.row(change.letter) else { return }
        if let rank = Ranks.named(change.letter) { return changeRank(rank, change, &work) }
        switch (row.kind, change.letter) {
        case (.list, _): changeList(change, &work)
        case (.flag, _): changeFlag(change, &work)
        case (_, UInt8(ascii: "k")): changeKey(change, &work)
        case (_, UInt8(ascii: "l")): changeLimit(change, &work)
        default: changeFlood(change, &work)
        }
    }

    /// Membership, rank and store; what is refused is told once a command.
    mutating func mayChange(_ change: ModeChange, _ work: inout ModeWork) -> Bool {
        if work.isRefused { return false }
        let turn = work.turn
        if !isMember(turn.me, of: work.channel) {
            refuseNonMember(turn, work.channel)
        } else if !hasRank(for: change, work) {
            refuseRank(turn, work.channel)
        } else if !refuseWhileStoreFails(turn, channels[work.channel].name) {
            return true
        }
        work.isRefused = true
        return false
    }

    private func hasRank(for change: ModeChange, _ work: ModeWork) -> Bool {
        guard let row = ChannelModes.row(change.letter) else { return false }
        if !power(over: change.letter, work).isBelow(row.least) { return true }
        // Everyone may give up a rank.
        guard !change.adding, Ranks.named(change.letter) != nil, let nick = change.parameter else { return false }
        return user(named: nick) == work.turn.me
    }

    /// The founder may always give ranks, also to come back to its own.
    private func power(over letter: UInt8, _ work: ModeWork) -> Ranks {
        let isFounder = channels[work.channel].state.founder == users[work.turn.me].uid
        return isFounder && Ranks.named(letter) != nil ? .owner : ranks(work.turn.me, in: work.channel)
    }

    private mutating func changeRank(_ rank: Ranks, _ change: ModeChange, _ work: inout ModeWork) {
        guard let nick = change.parameter, let target = user(named: nick) else {
            return refuseNick(work.turn, change.parameter ?? .empty)
        }
        guard let at = isMember(target, of: work.channel) ? channels[work.channel].memberIndex(target) : nil else {
            return refuseAbsent(work.turn, target, work.channel)
        }
        let member = channels[work.channel].members[at]
        if !change.adding, target != work.turn.me, power(over: change.letter, work).isBelow(member.ranks) {
            return refuseRank(work.turn, work.channel, "\(users[target].nick) has a higher rank than you")
        }
        let ranks = change.adding ? member.ranks.union(rank) : member.ranks.subtracting(rank)
        if ranks == member.ranks { return }
        channels[work.channel].members[at].ranks = ranks
        save(
            .saveMember(
                MemberState(
                    channel: channels[work.channel].state.id, uid: users[target].uid, ranks: ranks.rawValue,
                    present: true, joined: member.joined)))
        work.apply(change, users[target].nick)
    }

    private mutating func changeFlag(_ change: ModeChange, _ work: inout ModeWork) {
        if channels[work.channel].has(change.letter) == change.adding { return }
        var letters = channels[work.channel].state.modes.bytes
        if change.adding { letters.append(change.letter) } else { letters.removeAll { $0 == change.letter } }
        channels[work.channel].state.modes = ByteString(letters)
        work.isStateChanged = true
        work.apply(change)
    }

    private mutating func changeKey(_ change: ModeChange, _ work: inout ModeWork) {
        let key = change.adding ? change.parameter ?? .empty : .empty
        if change.adding, !isValidKey(key) {
            return refuseParameter(
                change, work, "A key has 1 to \(settings.limits.keyLength) bytes, without spaces and commas")
        }
        if channels[work.channel].state.key.equals(key) { return }
        channels[work.channel].state.key = ByteString(key)
        work.isStateChanged = true
        work.apply(change, change.adding ? ByteString(key) : "*")
    }

    /// What JOIN can take: one word of a list (RFC 2812, key), and `*` stands for a hidden one.
    private func isValidKey(_ key: ByteView) -> Bool {
        guard key.count <= settings.limits.keyLength, Message.isMiddle(key), key != "*" else { return false }
        return (0..<key.count).allSatisfy { key[$0] > 0x20 && key[$0] != 0x7F && key[$0] != 0x2C }
    }

    private mutating func changeLimit(_ change: ModeChange, _ work: inout ModeWork) {
        var limit = 0
        if change.adding {
            guard let wanted = change.parameter?.decimal(), wanted > 0 else {
                return refuseParameter(change, work, "A limit is a number of members above 0")
            }
            limit = wanted
        }
        if Int(channels[work.channel].state.limit) == limit { return }
        channels[work.channel].state.limit = Int32(limit)
        work.isStateChanged = true
        work.apply(change, change.adding ? "\(limit)" : nil)
    }

    private mutating func changeFlood(_ change: ModeChange, _ work: inout ModeWork) {
        var text: ByteString = ""
        if change.adding {
            guard let pace = change.parameter.flatMap({ ChannelPace($0) }) else {
                return refuseParameter(
                    change, work, "Write lines:seconds, up to \(ChannelPace.mostLines):\(ChannelPace.mostSeconds)")
            }
            text = pace.text
        }
        if channels[work.channel].state.flood == text { return }
        channels[work.channel].state.flood = text
        channels[work.channel].paces = [:]
        work.isStateChanged = true
        work.apply(change, change.adding ? text : nil)
    }
}
