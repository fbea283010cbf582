package import Bytes
import Wire

/// All chat state. It takes an event and leaves in `effects` what should happen; it touches no socket, clock, file or
/// database. One thread owns it.
package struct World: ~Copyable {
    package internal(set) var settings: Settings
    /// The token groups of 005, made once for each `settings`.
    var isupport: [ByteString]
    let ports: Ports
    var random: SeededGenerator
    package internal(set) var now = Moment(wall: 0, steady: 0)

    var sessions = SlotTable<ConnectionKind, Session>()
    /// By slot, apart from `sessions`: a relay reads these and nothing else of a receiver.
    var capabilities: ContiguousArray<Capabilities> = []
    /// By slot: the last gathering of receivers that a session was in; see `neighbours`.
    var stamps: ContiguousArray<UInt64> = []
    var stamp: UInt64 = 0
    /// By slot, until registration ends.
    var openings: [Int32: Opening] = [:]
    /// By slot: messages of several lines that are coming in. Empty nearly always.
    var openBatches: [Int32: OpenBatch] = [:]
    var users = Slab<UserKind, User>()
    var nicks: [NameKey: UserID] = [:]
    /// By skeleton; see `isTaken`.
    var likenesses: [ByteString: Likeness] = [:]
    /// Who is on the network now.
    var identities: [UID: UserID] = [:]
    var channels = Slab<ChannelKind, Channel>()
    var channelNames: [NameKey: ChannelID] = [:]
    var former: [Former] = []
    var departed = Departed()
    var monitors = Monitors()
    var watch = ChannelWatch()
    /// By reply slot: CONVERSATIONS whose pages are coming.
    var overviews: [Int64: Overview] = [:]
    /// Searches that are under way, by who asked.
    var searchers: [UID: Int] = [:]
    var receiptsAwaited = AwaitedReceipts()
    /// By slot: the metadata keys that a connection wants to hear of.
    var subscriptions: [Int32: Subscriptions] = [:]
    var metadataPaces: [UserID: MetadataPace] = [:]
    /// Failed tokens and passwords by address; one customer's IPv6 addresses count as one.
    var failures = Tally<Network?>(window: 60_000)
    var accounts: Accounts

    /// By `Peer.network`.
    var networkAllowances: [UInt64: Allowance] = [:]
    var images = ImageTables()

    var deadlines = Deadlines()
    /// What a question was asked for, until it is answered.
    var pending: [Int64: Pending] = [:]
    /// By position: messages changed since a page that is still awaited was asked for; see `brought(upToDate:)`.
    var lateChanges: [Int64: LateChange] = [:]
    /// The same of messages that their author has a name for; see `speakOnce`.
    var lateSends: [SendKey: LateSend] = [:]
    var lastPosition: Int64
    var lastChannelNumber: Int64
    var lastQuestion: Int64 = 0
    var lastReference: UInt64 = 0
    var directTimes: DirectTimes
    var headTimes = HeadTimes()
    /// The journal refused a batch and did not recover yet: what would need a record is refused at once.
    package internal(set) var isStoreFailing = false
    /// Changes of kept state that the store refused; written when it recovers.
    var unsaved: [Change] = []
    var statistics = Statistics()
    var serverBans: ServerBans
    /// Set by LOCKDOWN; a restart lifts it.
    var lockdown = Lockdown.off
    /// Wall milliseconds when unused channels are looked for again.
    var nextExpiry: Int64 = 0
    /// Wall milliseconds when it is noted again who is here.
    var nextKeeping: Int64 = 0

    package var effects = Effects()
    var response = Response()

    private static let positionGap: Int64 = 1 << 24

    package init(settings: Settings, ports: Ports, stored: StoredState) {
        self.settings = settings
        isupport = supportedTokens(settings)
        self.ports = ports
        random = SeededGenerator(seed: ports.seed)
        // Messages that nobody keeps (typing, +H) take positions too; a stored one follows them long before the gap is
        // used up, so that no msgid is given twice over a restart.
        lastPosition = stored.lastPosition + World.positionGap
        lastChannelNumber = stored.lastChannelID
        directTimes = DirectTimes(floor: stored.lastTime)
        serverBans = ServerBans(stored.serverBans)
        for state in stored.departed { departed.add(state.uid, state.nick, left: state.seen * 1000) }
        accounts = Accounts(stored.accountNames)
        for channel in stored.channels {
            let id = channels.insert(Channel(channel))
            channelNames[NameKey(channel.state.name)] = id
            headTimes.keep(channel.lastMessage.time)
        }
        load(stored.uploads)
    }

    /// Steady milliseconds when `tick` is due; nil: no deadline.
    package var nextDeadline: Int64? {
        guard let due = watch.due else { return deadlines.next }
        return min(due, deadlines.next ?? due)
    }

    /// Whether the connection's further input must wait: it is over its flood allowance, or an answer is awaited that
    /// the next line may depend on. `Effects.resumes` says when it goes on.
    package func isInputBlocked(_ id: ConnectionID) -> Bool {
        guard sessions.contains(id) else { return false }
        let session = sessions[id]
        return session.isWaiting || session.throttledUntil != 0 || session.isWindowFull || session.leaving != nil
            || isAskingForMuch(id)
    }

    package mutating func apply(_ event: Event, at moment: Moment) {
        now = moment
        if now.wall >= nextKeeping { keepSeen() }
        if now.wall >= nextExpiry {
            expireChannels()
            expireServerBans()
            expireAccounts()
        }
        if now.wall >= images.nextExpiry { expireUploads() }
        switch event {
        case .connected(let id, let peer): connected(id, peer)
        case .line(let id, let line): receive(id, line)
        case .fragment(let id, let part): receiveFragment(id, part)
        case .overlong(let id, let beginning): refuseOverlong(id, beginning)
        case .endOfTransmission(let id): endOfTransmission(id)
        case .inputEnded(let id): inputEnded(id)
        case .closed(let id, let reason): disconnected(id, reason: reason)
        case .page(let page): answered(page)
        case .direct(let answer): answered(answer)
        case .sent(let answer): answered(answer)
        case .receipts(let answer): answered(answer)
        case .identity(let answer): answered(answer)
        case .images(let answer): answered(answer)
        case .image(let event): imageTold(event)
        case .room(let id):
            if images.hungry.contains(id) { hasRoom(id) }
            if !watch.listings.isEmpty { goOnListing(id) }
        case .verified(let number, let outcome): verified(number, outcome)
        case .derived(let number, let credentials): derived(number, credentials)
        case .mailed(let number, let isSent): mailed(number, isSent: isSent)
        case .stored(let number, let isStored): stored(number, isStored)
        case .refused(let changes, let reason): storeRefused(changes, reason)
        case .storeRecovered: storeRecovered()
        case .tick: tick()
        case .reloaded(let settings): reload(settings)
        case .stopping: stop()
        }
    }
}

/// Counts for LUSERS and STATS.
struct Statistics {
    var mostUsers = 0
    var connections: Int64 = 0
    var commands: Int64 = 0
    /// Users with mode `i` and with mode `o`; kept by `setModes`.
    var invisible = 0
    var operators = 0
    /// How often each row of the command table was used.
    var uses = ContiguousArray<Int64>(repeating: 0, count: CommandTable.rows.count)
}

/// Why a question was asked: everything that its answer needs, by number.
enum Pending {
    case page(PageRequest)
    case search(SearchRequest)
    case targets(TargetsRequest)
    case changing(ChangeRequest)
    case missed(PageRequest)
    case addressing(Letter)
    case addressingAccount(Letter)
    case sending(OnceRequest)
    case conversations(Overview)
    case conversation(of: Int64, Int)
    case receipts(ReceiptsRequest)
    case image(ImageRequest)
    case imageEnd(ImageEnd)
    /// A piece of a picture for a connection.
    case imageBytes(ConnectionID, Int64)
    case seen(SeenRequest)
    case errand(Errand)
    case forwarding(ConnectionID, Peer, gateway: ByteString)
    case becomingOperator(ConnectionID, name: ByteString, label: ByteString)
}

extension World {
    private mutating func reload(_ settings: Settings) {
        self.settings = settings
        isupport = supportedTokens(settings)
    }

    mutating func nextQuestion(_ pending: Pending) -> Int64 {
        lastQuestion += 1
        self.pending[lastQuestion] = pending
        return lastQuestion
    }

    /// A batch reference: unique for the life of the process.
    mutating func nextReference() -> ByteString {
        lastReference += 1
        return Base32.encode(lastReference, width: lastReference < 1 << 20 ? 4 : 8)
    }

    func channel(named name: ByteView) -> ChannelID? { channelNames[NameKey(name)] }

    func user(named nick: ByteView) -> UserID? { nicks[NameKey(nick)] }

    func isMember(_ user: UserID, of channel: ChannelID) -> Bool { users[user].channels.contains(channel) }

    func ranks(_ user: UserID, in channel: ChannelID) -> Ranks {
        isMember(user, of: channel) ? channels[channel].ranks(of: user) ?? [] : []
    }

    func shareChannel(_ a: UserID, _ b: UserID) -> Bool {
        users[a].channels.contains { users[b].channels.contains($0) }
    }

    mutating func note(_ level: Note.Level, _ text: ByteString) { effects.notes.append(Note(level, text)) }

    /// Another failed token or password from this address; see `isThrottled`.
    mutating func countFailure(_ address: ByteString) { failures.add(customer(address), now: now.steady) }

    /// Too many failures a minute: further attempts are refused unheard, right ones too, so that guessing is hopeless.
    func isThrottled(_ address: ByteString) -> Bool {
        failures.count(customer(address), now: now.steady) >= settings.limits.failedAttempts
    }

    /// What one customer has: an IPv4 address, or a /64 of IPv6.
    func customer(_ address: ByteString) -> Network? {
        let text: ByteString = address.bytes.contains(0x3A) ? "\(address)/64" : address
        return text.withView { Network($0) }
    }
}
