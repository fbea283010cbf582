import Bytes
package import Chat
import Wire

/// What a World asks of a store, answered at once.
package protocol ScriptStore: AnyObject {
    func commit(_ records: [LogRecord], _ changes: [Change])
    func page(_ question: HistoryQuestion) -> HistoryPage
    func search(_ question: SearchQuestion) -> HistoryPage
    func direct(_ question: DirectQuestion) -> DirectAnswer
    func sent(_ question: SentQuestion) -> SentAnswer
    func receipts(_ question: ReceiptsQuestion) -> ReceiptsAnswer
    func identity(_ question: IdentityQuestion) -> IdentityAnswer
}

/// A store in its simplest form: lists, and every question a filter. (The real one has its own tests.)
package final class MemoryStore: ScriptStore {
    package private(set) var log: [LogRecord] = []
    package private(set) var members: [MemberState] = []
    package private(set) var identities: [UID: IdentityState] = [:]
    package private(set) var metadata: [MetadataOwner: Metadata] = [:]
    package private(set) var accounts: [UID: AccountState] = [:]
    package private(set) var changes: [Change] = []
    package private(set) var correspondence: [UID: Correspondence] = [:]
    private var delivered: [UID: (position: Int64, time: Int64)] = [:]

    package init() {}

    package func commit(_ records: [LogRecord], _ changes: [Change]) {
        for record in records { add(record) }
        self.changes += changes
        for change in changes {
            switch change {
            case .saveMember(let member):
                members.removeAll { $0.channel == member.channel && $0.uid == member.uid }
                members.append(member)
            case .removeMember(let channel, let uid): members.removeAll { $0.channel == channel && $0.uid == uid }
            case .saveIdentity(let identity): identities[identity.uid] = identity
            case .setMetadata(let owner, let key, let value): metadata[owner, default: Metadata()][key] = value
            case .saveReadMark(let uid, let mark):
                forgetMark(uid, mark.conversation)
                correspondence[uid, default: Correspondence()].marks.append(mark)
            case .removeReadMark(let uid, let conversation): forgetMark(uid, conversation)
            case .noteMissed(let uid, let mark):
                let first = correspondence[uid]?.missedSince ?? MessageMark()
                if first.position == 0 { correspondence[uid, default: Correspondence()].missedSince = mark }
            case .forgetMissed(let uid): correspondence[uid]?.missedSince = MessageMark()
            case .saveDelivered(let uid, let position, let time): delivered[uid] = (position, time)
            case .account(let change): commit(change)
            case .erase(let uid):
                identities[uid] = nil
                accounts[uid] = nil
                members.removeAll { $0.uid == uid }
            default: break
            }
        }
    }

    package func sent(_ question: SentQuestion) -> SentAnswer {
        let found = log.filter { $0.uid == question.uid && $0.cid == question.cid && $0.time >= question.since }
        return SentAnswer(
            number: question.number,
            sent: found.map { SentMessage(conversation: $0.conversation, position: $0.position, time: $0.time) })
    }

    package func receipts(_ question: ReceiptsQuestion) -> ReceiptsAnswer {
        let conversation = question.conversation
        let message = log.first {
            $0.position == question.position && $0.conversation == conversation && $0.uid == question.author
                && !$0.isRedacted && $0.kind.isMessage
        }
        guard let message else { return ReceiptsAnswer(number: question.number, isFound: false) }
        var others = [UID(number: conversation.a), UID(number: conversation.b)]
        if !conversation.isDirect {
            let present = members.filter {
                $0.channel == conversation.a && $0.present && $0.joined <= message.position
            }
            others = present.map(\.uid).sorted { $0.number < $1.number }
        }
        var answer = ReceiptsAnswer(number: question.number, isFound: true)
        for uid in others where uid != question.author && metadata[.identity(uid)]?["parley.chat/receipts"] != "off" {
            let mark = correspondence[uid]?.marks.first { $0.conversation == conversation }
            if let mark, mark.time >= message.time {
                answer.receipts.append(Receipt(uid: uid, isRead: true, time: mark.time))
            } else if let got = delivered[uid], got.position >= message.position {
                answer.receipts.append(Receipt(uid: uid, isRead: false, time: got.time))
            }
        }
        return answer
    }

    private func add(_ record: LogRecord) {
        log.append(record)
        if record.kind.shelf != .changes { return }
        if record.kind == .edit { log[log.count - 1].text = "" }
        let at = log.firstIndex { $0.position == record.counterpart && $0.conversation == record.conversation }
        if let at { log[at].take(record) }
    }

    private func forgetMark(_ uid: UID, _ conversation: Conversation) {
        correspondence[uid]?.marks.removeAll { $0.conversation == conversation }
    }

    private func commit(_ change: AccountChange) {
        switch change {
        case .add(let account): accounts[account.uid] = account
        case .verify(let uid): accounts[uid]?.standing = .open
        case .setCredentials(let uid, let credentials):
            accounts[uid]?.credentials = credentials
            accounts[uid]?.code = ""
        case .setCode(let uid, let code, let expires):
            accounts[uid]?.code = code
            accounts[uid]?.codeExpires = expires
        case .suspend(let name, let reason):
            if let uid = account(named: name) { accounts[uid]?.suspension = reason }
        case .close(let uid):
            accounts[uid]?.standing = .closed
            accounts[uid]?.credentials = Credentials(hash: "", scram: "")
        case .remove(let uid): accounts[uid] = nil
        case .addCertificate(let uid, let fingerprint): accounts[uid]?.certificates.append(fingerprint)
        case .removeCertificate(let uid, let fingerprint): accounts[uid]?.certificates.removeAll { $0 == fingerprint }
        }
    }

    private func account(named folded: ByteString) -> UID? {
        accounts.values.first { account in account.name.withView { Names.fold($0) } == folded }?.uid
    }

    package func identity(_ question: IdentityQuestion) -> IdentityAnswer {
        let uid: UID?
        switch question.who {
        case .uid(let given): uid = given
        case .nick(let nick):
            let named = identities.values.filter { entry in
                entry.nick.withView { mine in nick.withView { mine.equalsIgnoringCase($0) } }
            }
            uid = named.max { $0.seen < $1.seen }?.uid
        case .account(let name): uid = account(named: name)
        case .accounts(let after, let limit):
            var answer = IdentityAnswer(number: question.number, state: nil, members: [])
            let all = accounts.values.map { account in (account.name.withView { Names.fold($0).string }, account) }
            answer.accounts = all.filter { $0.0 > after.string }.sorted { $0.0 < $1.0 }.prefix(limit).map(\.1)
            return answer
        case .certificate(let fingerprint): uid = accounts.values.first { $0.certificates.contains(fingerprint) }?.uid
        }
        guard let uid else { return IdentityAnswer(number: question.number, state: nil, members: []) }
        var answer = IdentityAnswer(
            number: question.number, state: identities[uid], members: members.filter { $0.uid == uid },
            metadata: metadata[.identity(uid)] ?? Metadata(), account: accounts[uid])
        answer.correspondence = correspondence[uid] ?? Correspondence()
        return answer
    }

    package func page(_ question: HistoryQuestion) -> HistoryPage {
        var page = records(question)
        addCounterparts(&page)
        return page
    }

    private func records(_ question: HistoryQuestion) -> HistoryPage {
        let all = log.filter {
            $0.conversation == question.conversation && question.kinds.contains(number: $0.kind.rawValue)
                && (question.author == .none || question.author == $0.uid)
                && $0.position >= question.oldest && $0.position <= question.newest
        }
        let limit = question.limit
        func page(_ matching: [LogRecord], newestFirst: Bool) -> HistoryPage {
            HistoryPage(
                number: question.number, records: newestFirst ? matching.suffix(limit) : Array(matching.prefix(limit)),
                isComplete: matching.count <= limit)
        }
        switch question.selector {
        case .latest(let after): return page(all.filter { after.map($0.isAfter) ?? true }, newestFirst: true)
        case .before(let reference): return page(all.filter { $0.isBefore(reference) }, newestFirst: true)
        case .after(let reference): return page(all.filter { $0.isAfter(reference) }, newestFirst: false)
        case .around(let reference):
            let before = all.filter { $0.isBefore(reference) }
            let rest = all.filter { !$0.isBefore(reference) }
            let older = min(before.count, max(limit / 2, limit - rest.count))
            return HistoryPage(
                number: question.number, records: before.suffix(older) + rest.prefix(limit - older),
                isComplete: all.count <= limit)
        case .between(let first, let second):
            let forward = all.filter { $0.isAfter(first) && $0.isBefore(second) }
            let backward = all.filter { $0.isAfter(second) && $0.isBefore(first) }
            return forward.isEmpty ? page(backward, newestFirst: true) : page(forward, newestFirst: false)
        }
    }

    /// Words are what stands between spaces.
    package func search(_ question: SearchQuestion) -> HistoryPage {
        let wanted = question.text.description.lowercased().split(separator: " ")
        let found = log.filter { record in
            let words = record.text.description.lowercased().split(separator: " ")
            return record.kind.isMessage && !record.text.isEmpty && wanted.allSatisfy { words.contains($0) }
                && question.allows(record.conversation, record.position) && question.times.contains(record.time)
                && record.isBy(question.author)
        }
        var page = HistoryPage(
            number: question.number,
            records: question.isForward ? Array(found.prefix(question.limit)) : found.suffix(question.limit),
            isComplete: found.count <= question.limit)
        addCounterparts(&page)
        return page
    }

    private func addCounterparts(_ page: inout HistoryPage) {
        for record in page.records where record.counterpart != 0 {
            page.counterparts[record.counterpart] = log.first { $0.position == record.counterpart }
        }
    }

    package func direct(_ question: DirectQuestion) -> DirectAnswer {
        let mine = log.filter {
            $0.conversation.isDirect && $0.kind.isMessage && $0.position <= question.newest
                && [$0.conversation.a, $0.conversation.b].contains(question.uid.number)
        }
        switch question.wanted {
        case .existence:
            return DirectAnswer(
                number: question.number, records: [], isComplete: identities[question.uid] != nil)
        case .heads(let from, let to):
            let newest = Dictionary(grouping: mine, by: \.conversation).compactMap { $1.last }
            let heads = newest.filter { $0.time > min(from, to) && $0.time < max(from, to) }.sorted {
                $0.time < $1.time
            }
            let isComplete = heads.count <= question.limit
            return DirectAnswer(
                number: question.number,
                records: from > to ? heads.suffix(question.limit) : Array(heads.prefix(question.limit)),
                isComplete: isComplete)
        case .received(let since):
            let received = mine.filter { $0.position >= since.position && $0.uid != question.uid }
            var answer = DirectAnswer(
                number: question.number, records: received.suffix(question.limit),
                isComplete: received.count <= question.limit)
            for record in answer.records where record.counterpart != 0 {
                answer.counterparts[record.counterpart] = log.first { $0.position == record.counterpart }
            }
            return answer
        }
    }
}

extension LogRecord {
    fileprivate func isBy(_ author: SearchQuestion.Author) -> Bool {
        switch author {
        case .anyone: true
        case .uid(let uid): self.uid == uid
        case .nick(let nick):
            source.withView { source in nick.withView { Source(source).nick.equalsIgnoringCase($0) } }
        }
    }

    fileprivate func isBefore(_ reference: PageReference) -> Bool {
        switch reference {
        case .position(let position): self.position < position
        case .time(let time): self.time < time
        }
    }

    fileprivate func isAfter(_ reference: PageReference) -> Bool {
        switch reference {
        case .position(let position): self.position > position
        case .time(let time): self.time > time
        }
    }
}
