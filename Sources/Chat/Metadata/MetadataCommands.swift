import Bytes
import Wire

let metadataCommands: [Command] = [metadataCommand]

private let metadataCommand = Command(
    "METADATA", minimum: 2, early: [.metadata, .metadata3], source: "IRCv3 draft/metadata-2 and its draft/metadata-3",
    help: [
        "METADATA <target> GET <key>… | LIST | SET <key> [:value] | CLEAR | SYNC",
        "METADATA * SUB <key>… | UNSUB <key>… | SUBS",
        "What people and channels tell of themselves: display-name, avatar, homepage and more. The target is * for",
        "yourself, a nick or a channel. SET without a value removes the key; SUB tells you of changes.",
        "Example: METADATA * SET homepage :https://ana.example",
    ]
) { world, turn in world.metadata(turn) }

private enum Subcommand {
    case get, list, set, clear, sync, sub, unsub, subs

    init?(_ word: ByteView) {
        let known: [(StaticString, Subcommand)] = [
            ("GET", .get), ("LIST", .list), ("SET", .set), ("CLEAR", .clear), ("SYNC", .sync), ("SUB", .sub),
            ("UNSUB", .unsub), ("SUBS", .subs),
        ]
        guard let found = known.first(where: { word.equalsIgnoringCase($0.0) }) else { return nil }
        self = found.1
    }

    var needsKey: Bool { self == .get || self == .set || self == .sub || self == .unsub }
}

/// Who or what has metadata.
enum MetadataTarget: Equatable {
    /// Who asks, before registration.
    case newcomer(ConnectionID)
    case user(UserID)
    case channel(ChannelID)
}

extension World {
    fileprivate mutating func metadata(_ turn: Turn) {
        guard let subcommand = Subcommand(turn[1]) else {
            return fail(
                turn, metadataCode(turn, "SUBCOMMAND_INVALID", "INVALID_PARAMS"),
                "Known are GET, LIST, SET, CLEAR, SYNC, SUB, UNSUB and SUBS", about: [shown(turn[1], atMost: 32)])
        }
        if subcommand.needsKey, turn.parameterCount < 3 { return needMoreParameters(turn) }
        switch subcommand {
        case .sub: return subscribe(turn)
        case .unsub: return unsubscribe(turn)
        case .subs: return tellSubscriptions(turn)
        default: break
        }
        if subcommand == .sync, turn[0].equalsIgnoringCase("*ALL") { return syncAll(turn) }
        guard let target = metadataTarget(turn) else {
            return fail(turn, "INVALID_TARGET", "There is no such nick or channel", about: [shown(turn[0])])
        }
        switch subcommand {
        case .get: getMetadata(turn, target)
        case .list: listMetadata(turn, target)
        case .set: setMetadata(turn, target)
        case .clear: clearMetadata(turn, target)
        default: sync(turn, target)
        }
    }

    /// `*`, a nick, `=<uid>` or a channel that the asker may know of.
    private func metadataTarget(_ turn: Turn) -> MetadataTarget? {
        guard let user = turn.user else { return turn[0] == "*" ? .newcomer(turn.session) : nil }
        if turn[0] == "*" { return .user(user) }
        if turn[0].first == 0x23 {
            guard let channel = channel(named: turn[0]), may(user, know: .existence, of: channel) else { return nil }
            return .channel(channel)
        }
        return directTarget(turn[0]).map { .user($0) }
    }

    // MARK: What the subcommands share

    func metadata(of target: MetadataTarget) -> Metadata {
        switch target {
        case .newcomer(let session): openings[session.index]?.metadata ?? Metadata()
        case .user(let user): users[user].metadata
        case .channel(let channel): channels[channel].metadata
        }
    }

    func metadataName(_ target: MetadataTarget) -> ByteString {
        switch target {
        case .newcomer: "*"
        case .user(let user): users[user].nick
        case .channel(let channel): channels[channel].name
        }
    }

    /// Private keys are their owner's alone.
    func maySee(_ key: ByteString, of target: MetadataTarget, _ viewer: UserID?) -> Bool {
        guard MetadataKeys.isPrivate(key) else { return true }
        switch target {
        case .newcomer: return true
        case .user(let user): return user == viewer
        case .channel: return false
        }
    }

    /// draft/metadata-3 tells changes by numerics and has other codes; persons get the codes of the published draft.
    func speaksDraft3(_ session: ConnectionID) -> Bool { capabilities[Int(session.index)].contains(.metadata3) }

    func metadataCode(_ turn: Turn, _ code: StaticString, _ draft3: StaticString) -> StaticString {
        speaksDraft3(turn.session) ? draft3 : code
    }

    /// The key of a parameter; nil: it was refused.
    mutating func metadataKey(_ turn: Turn, _ word: ByteView) -> ByteString? {
        if MetadataKeys.isValid(word, limit: settings.limits.metadataKeyBytes) { return ByteString(word) }
        fail(
            turn, metadataCode(turn, "KEY_INVALID", "INVALID_KEY"),
            "A key has 1 to \(settings.limits.metadataKeyBytes) of a-z, 0-9, _ . / and -", about: [shown(word)])
        return nil
    }

    mutating func refuseMetadata(_ turn: Turn, _ target: MetadataTarget, _ key: ByteString, _ why: ByteString) {
        fail(turn, "KEY_NO_PERMISSION", why, about: [metadataName(target), key])
    }
}
