import Bytes
import Wire

let channelsCommand = Command(
    "CHANNELS", minimum: 1, cost: 2000, source: "docs/PROTOCOL.md, Channels",
    help: [
        "CHANNELS SUB|UNSUB", "Tells the public channels, and from then on each that is new, changes or goes.",
        "Example: CHANNELS SUB",
    ]
) { world, turn in
    if turn[0].equalsIgnoringCase("SUB") {
        world.watchChannels(turn)
    } else if turn[0].equalsIgnoringCase("UNSUB") {
        world.watch.remove(turn.session)
        world.endOfChannels(turn.session, "You are told no more of the channels")
    } else {
        world.fail(
            turn, "UNKNOWN_COMMAND", "Known are SUB and UNSUB", about: [world.shown(turn[0], atMost: 32)])
    }
}

/// Who follows the list of public channels, and what they were told. What changes within a moment is told once, so that
/// a storm of joins costs a line for each channel and not for each join.
struct ChannelWatch {
    static let delay: Int64 = 500

    private(set) var sessions: ContiguousArray<ConnectionID> = []
    /// By slot: who is still being told the whole list.
    var listings: [Int32: ChannelListing] = [:]
    /// By channel id, the line without its verb.
    var told: [Int64: ByteString] = [:]
    private var changed: Set<ChannelID> = []
    private var gone: Set<Int64> = []
    /// Steady milliseconds when changes are told; nil: there are none.
    private(set) var due: Int64?

    mutating func add(_ session: ConnectionID) { if !sessions.contains(session) { sessions.append(session) } }

    mutating func remove(_ session: ConnectionID) {
        sessions.removeAll { $0 == session }
        listings[session.index] = nil
        if sessions.isEmpty { self = ChannelWatch() }
    }

    mutating func note(_ channel: ChannelID, now: Int64) {
        if sessions.isEmpty { return }
        changed.insert(channel)
        due = due ?? now + ChannelWatch.delay
    }

    mutating func noteGone(_ id: Int64, now: Int64) {
        if sessions.isEmpty { return }
        gone.insert(id)
        due = due ?? now + ChannelWatch.delay
    }

    /// Who is told of a change. Who will be told the channel as it is later on needs no change of it.
    func audience(of id: Int64) -> ContiguousArray<ConnectionID> {
        if listings.isEmpty { return sessions }
        return sessions.filter { !(listings[$0.index]?.untold.contains(id) ?? false) }
    }

    /// In an order that does not depend on chance.
    mutating func take() -> (changed: [ChannelID], gone: [Int64]) {
        let taken = (changed.sorted { $0.index < $1.index }, gone.sorted())
        changed = []
        gone = []
        due = nil
        return taken
    }
}

extension World {
    fileprivate mutating func watchChannels(_ turn: Turn) {
        if isListTooEarly(turn) { return }
        tellChannelChanges()
        let session = turn.session
        let isFirst = watch.sessions.isEmpty
        watch.add(session)
        var listing = ChannelListing(session: session)
        for slot in 0..<channels.slots {
            guard let channel = channels.id(at: slot), let entry = publicEntry(channel) else { continue }
            let id = channels[channel].state.id
            if isFirst { watch.told[id] = entry }
            listing.rest.append(channel)
            listing.untold.insert(id)
        }
        listing.rest.reverse()
        begin(listing)
    }

    mutating func endOfChannels(_ session: ConnectionID, _ text: ByteString, _ tag: ByteString = "") {
        let note = StandardReplies.note("CHANNELS", "END", ["*"], text)
        sendRaw(session, "\(tag):\(settings.serverName) \(note)")
    }

    /// `<#name> <id> <members> :<topic>`; nil: not for everybody to know.
    func publicEntry(_ channel: ChannelID) -> ByteString? {
        guard may(nil, know: .existence, of: channel) else { return nil }
        let state = channels[channel].state
        let topic = may(nil, know: .topic, of: channel) ? state.topic : ""
        return "\(state.name) \(state.id) \(channels[channel].members.count) :\(topic)"
    }

    /// Something of the channel that LIST shows is different now.
    mutating func noteListed(_ channel: ChannelID) { watch.note(channel, now: now.steady) }

    mutating func tellChannelChanges() {
        if watch.due == nil { return }
        let (changed, gone) = watch.take()
        for id in gone { tellGone(id) }
        for channel in changed where channels.contains(channel) {
            let id = channels[channel].state.id
            guard let entry = publicEntry(channel) else {
                tellGone(id)
                continue
            }
            let before = watch.told.updateValue(entry, forKey: id)
            if before != entry { tellWatchers("\(before == nil ? "ADD" : "MOD") \(entry)" as ByteString, of: id) }
        }
    }

    private mutating func tellGone(_ id: Int64) {
        guard let entry = watch.told.removeValue(forKey: id) else { return }
        let name = entry.withView { ByteString($0.prefix($0.firstIndex(of: 0x20) ?? 0)) }
        tellWatchers("DEL \(name) \(id) 0 :", of: id)
    }

    private mutating func tellWatchers(_ change: ByteString, of id: Int64) {
        let line = Outgoing(source: settings.serverName, time: now.wall, body: "CHANNELS \(change)")
        var forms = Forms(interest: line.interest)
        relay(line, to: watch.audience(of: id), &forms)
    }
}
