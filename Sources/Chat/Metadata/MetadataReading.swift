import Bytes
import Wire

/// METADATA GET and LIST, and the lines and batches that values are told in.
extension World {
    mutating func getMetadata(_ turn: Turn, _ target: MetadataTarget) {
        guard mayReadMetadata(turn, target) else { return }
        let name = metadataName(target)
        let reference = beginMetadata(turn.session, about: name)
        for index in 2..<turn.parameterCount {
            for word in turn[index].parts(0x20) { tellKey(turn, target, word, name, reference) }
        }
        endMetadata(turn.session, reference)
    }

    private mutating func tellKey(
        _ turn: Turn, _ target: MetadataTarget, _ word: ByteView, _ name: ByteString, _ reference: ByteString
    ) {
        let session = turn.session
        guard MetadataKeys.isValid(word, limit: settings.limits.metadataKeyBytes) else {
            let code = metadataCode(turn, "KEY_INVALID", "INVALID_KEY")
            return tell(
                session, StandardReplies.fail("METADATA", code, [shown(word)], "This is no key"), in: reference)
        }
        let key = ByteString(word)
        guard let value = metadata(of: target)[key], maySee(key, of: target, turn.user) else {
            return tell(session, keyNotSet(session, name, key), in: reference)
        }
        tell(session, keyValue(session, name, key, value), in: reference)
    }

    mutating func listMetadata(_ turn: Turn, _ target: MetadataTarget) {
        guard mayReadMetadata(turn, target) else { return }
        let name = metadataName(target)
        let reference = beginMetadata(turn.session, about: name)
        for entry in metadata(of: target).entries where maySee(entry.key, of: target, turn.user) {
            tell(turn.session, keyValue(turn.session, name, entry.key, entry.value), in: reference)
        }
        endMetadata(turn.session, reference)
    }

    /// Who may not simply come into a channel does not read what it tells its members.
    mutating func mayReadMetadata(_ turn: Turn, _ target: MetadataTarget) -> Bool {
        guard case .channel(let channel) = target, !isMember(turn.me, of: channel) else { return true }
        let isClosed = channels[channel].has(UInt8(ascii: "i")) || !channels[channel].state.key.isEmpty
        if !isClosed, may(turn.user, know: .metadata, of: channel) { return true }
        refuseMetadata(turn, target, "*", "It is for members of \(channels[channel].name)")
        return false
    }

    /// 760 of WHOIS: for clients that know of metadata, and people.
    mutating func whoisMetadata(_ turn: Turn, _ user: UserID) {
        let mine = capabilities[Int(turn.session.index)]
        guard sessions[turn.session].isPlain || !mine.isDisjoint(with: [.metadata, .metadata3]) else { return }
        for entry in users[user].metadata.entries where maySee(entry.key, of: .user(user), turn.user) {
            reply(
                turn, .RPL_WHOISKEYVALUE,
                "\(users[user].nick) \(entry.key) \(MetadataKeys.visibility(of: entry.key)) :\(entry.value)")
        }
    }

    // MARK: Lines

    func keyValue(_ session: ConnectionID, _ name: ByteString, _ key: ByteString, _ value: ByteString) -> ByteString {
        "761 \(nickShown(to: session)) \(name) \(key) \(MetadataKeys.visibility(of: key)) :\(value)"
    }

    func keyNotSet(_ session: ConnectionID, _ name: ByteString, _ key: ByteString) -> ByteString {
        "766 \(nickShown(to: session)) \(name) \(key) :key not set"
    }

    /// The start of a `metadata` batch; an empty reference for who knows no batches.
    mutating func beginMetadata(_ session: ConnectionID, about name: ByteString) -> ByteString {
        guard capabilities[Int(session.index)].contains(.batch) else { return "" }
        let reference = nextReference()
        tell(session, "BATCH +\(reference) metadata \(name)")
        return reference
    }

    mutating func endMetadata(_ session: ConnectionID, _ reference: ByteString) {
        if !reference.isEmpty { tell(session, "BATCH -\(reference)") }
    }

    /// `:server <line>`, in the batch if there is one.
    mutating func tell(_ session: ConnectionID, _ line: ByteString, in reference: ByteString) {
        if reference.isEmpty { return tell(session, line) }
        sendRaw(session, "@batch=\(reference) :\(settings.serverName) \(line)")
    }
}
