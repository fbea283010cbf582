import Bytes
import Wire

/// Which names belong to accounts, whose they are, and what looks like them. An account costs a few words here, however
/// many there are; everything else of it is read when it is needed.
struct AccountNames {
    /// Hashes under the process's secret seed: two names never share one.
    private var names: [Int: UID] = [:]
    private var looks: [Int: Likeness] = [:]

    func contains(_ name: ByteView) -> Bool { !names.isEmpty && names[NameKey(name).hashValue] != nil }

    /// nil: there is no account of this name, or nobody has it (any more, or yet).
    func owner(of name: ByteView) -> UID? {
        let owner = names.isEmpty ? nil : names[NameKey(name).hashValue]
        return owner == UID.none ? nil : owner
    }

    /// How many names look like this.
    func likeness(_ look: ByteString) -> Likeness? { looks.isEmpty ? nil : looks[look.hashValue] }

    /// Taken; `give` says whose it is.
    mutating func insert(_ name: ByteView, look: ByteString) {
        if contains(name) { return }
        names[NameKey(name).hashValue] = UID.none
        count(name, look, 1)
    }

    mutating func remove(_ name: ByteView, look: ByteString) {
        if names.removeValue(forKey: NameKey(name).hashValue) != nil { count(name, look, -1) }
    }

    mutating func give(_ name: ByteView, to owner: UID) {
        if contains(name) { names[NameKey(name).hashValue] = owner }
    }

    private mutating func count(_ name: ByteView, _ look: ByteString, _ step: Int) {
        var likeness = looks[look.hashValue] ?? Likeness()
        likeness.count(name, step)
        looks[look.hashValue] = likeness.all > 0 ? likeness : nil
    }
}

/// What World keeps of accounts besides who is logged in.
struct Accounts {
    var names = AccountNames()
    /// Names that become free again unless they are verified.
    var unverified: [AccountName] = []
    /// Whose registration is under way.
    var registering: Set<UID> = []
    /// SASL under way, by slot.
    var exchanges: [Int32: SaslExchange] = [:]
    /// The newest question before an account was changed: what was read of it earlier is out of date.
    private var changed: [NameKey: Int64] = [:]
    /// The same of identities that were erased.
    private var erased: [UID: Int64] = [:]
    /// Wrong passwords by account.
    var failures = Tally<NameKey>(window: 60_000)
    var registrations = Tally<Network?>(window: 3_600_000)
    /// Mails by account.
    var mails = Tally<NameKey>(window: 3_600_000)

    init(_ stored: [AccountName]) {
        for name in stored {
            name.name.withView {
                names.insert($0, look: name.look)
                if name.expires == 0 { names.give($0, to: name.uid) }
            }
            if name.expires > 0 { unverified.append(name) }
        }
    }

    /// - Parameter oldest: the oldest question that is not answered yet; what changed before it concerns nobody.
    mutating func noteChange(_ name: ByteString, question: Int64, oldest: Int64) {
        changed = changed.filter { $0.value >= oldest }
        changed[NameKey(name)] = question
    }

    mutating func noteErasure(_ uid: UID, question: Int64, oldest: Int64) {
        erased = erased.filter { $0.value >= oldest }
        erased[uid] = question
    }

    func wasErased(_ uid: UID, since question: Int64) -> Bool { erased[uid].map { $0 >= question } ?? false }

    func hasChanged(_ name: ByteString, since question: Int64) -> Bool {
        changed[NameKey(name)].map { $0 >= question } ?? false
    }
}

/// How often something happened within a time, by whom it concerns.
struct Tally<Key: Hashable> {
    /// Milliseconds.
    let window: Int64
    private var entries: [Key: (count: Int, since: Int64)] = [:]

    init(window: Int64) { self.window = window }

    /// - Parameter now: steady milliseconds.
    mutating func add(_ key: Key, now: Int64) {
        var entry = entries[key] ?? (0, now)
        if now - entry.since > window { entry = (0, now) }
        entry.count += 1
        entries[key] = entry
        if entries.count > 100_000 { entries = entries.filter { now - $0.value.since <= window } }
    }

    func count(_ key: Key, now: Int64) -> Int {
        guard let entry = entries[key], now - entry.since <= window else { return 0 }
        return entry.count
    }
}

extension World {
    /// Whether a name belongs to an account other than `account` (empty: none), or looks like one that does.
    func isRegistered(_ name: ByteView, besides account: ByteString) -> Bool {
        let isOwn = !account.isEmpty && account.withView { name.equalsIgnoringCase($0) }
        if !isOwn, accounts.names.contains(name) { return true }
        let look = ports.skeleton(name)
        guard var others = accounts.names.likeness(look) else { return false }
        account.withView { own in
            if !own.isEmpty, ports.skeleton(own) == look { others.count(own, -1) }
        }
        return others.hinders(name)
    }

    /// Accounts whose address was not proved in time are gone, their names free.
    mutating func expireAccounts() {
        let now = seconds
        let late = accounts.unverified.filter { $0.expires <= now }
        if late.isEmpty || isStoreFailing { return }
        accounts.unverified.removeAll { $0.expires <= now }
        for account in late {
            account.name.withView { accounts.names.remove($0, look: account.look) }
            changeAccount(account.name, .remove(account.uid))
        }
    }

    /// A change of an account that nobody waits for.
    mutating func changeAccount(_ name: ByteString, _ change: AccountChange) {
        noteChange(of: name)
        save(.account(change))
    }

    /// Every change of an account that exists is noted here.
    mutating func noteChange(of name: ByteString) {
        accounts.noteChange(name, question: lastQuestion, oldest: pending.keys.min() ?? .max)
    }

    /// Who proved to be this identity and has not finished coming in proved it by what holds no more.
    mutating func forgetArrivals(of uid: UID) {
        for (slot, opening) in openings where opening.returning?.uid == uid { openings[slot]?.returning = nil }
    }
}
