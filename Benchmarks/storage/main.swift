import Bytes
import Chat
import Glibc
import Store

// What the store costs: writing with every group synced, a page of a hundred in a small and in a large database, a
// search, the start, and bytes on disk. `bench-storage [messages] [directory]`: 200,000 messages in /tmp unless told
// otherwise; with 10000000 it takes some minutes and 5 GB. Figures of the processor are of one thread.

private let arguments = CommandLine.arguments
private let wanted = arguments.count > 1 ? Int64(arguments[1]) ?? 200_000 : 200_000
private let directory = (arguments.count > 2 ? arguments[2] : "/tmp") + "/parley-bench-\(getpid())"

private func seconds(_ clock: clockid_t = CLOCK_MONOTONIC) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

private func rounded(_ number: Double) -> String { "\(Double(Int(number * 10)) / 10)" }

/// Messages as people write them: frequent words and rare ones, two to fourteen of them.
private struct Author {
    private var random = SeededGenerator(seed: 1)
    private let words: [ByteString]
    var position: Int64 = 0
    private var time: Int64 = 1_780_000_000_000

    init() {
        var random = SeededGenerator(seed: 2)
        words = (0..<20_000).map { _ in Base32.encode(random.next(), width: Int.random(in: 2...9, using: &random)) }
    }

    /// Some words are a thousand times as frequent as others.
    private mutating func word() -> ByteString {
        let scale = Double.random(in: 0..<1, using: &random)
        return words[Int(pow(Double(words.count), scale)) - 1]
    }

    mutating func message(channels: Int64) -> LogRecord {
        position += 1
        time += 1
        var text = word()
        for _ in 0..<Int.random(in: 1...13, using: &random) { text = "\(text) \(word())" }
        let person = Int64.random(in: 1...2_000, using: &random)
        return LogRecord(
            position: position, conversation: .channel(Int64.random(in: 1...channels, using: &random)), time: time,
            kind: .privmsg, uid: UID(number: person), source: "person\(person)!person@cloak-\(person).example",
            name: "Person \(person)", text: text)
    }

    mutating func batch(_ number: Int64, of count: Int, channels: Int64) -> JournalBatch {
        JournalBatch(number: number, records: (0..<count).map { _ in message(channels: channels) })
    }
}

private struct Spent {
    var clock = 0.0
    var processor = 0.0
}

/// As the journal's thread: what waits is written, and housekeeping is done when it must be.
private func fill(_ journal: inout Journal, _ author: inout Author, _ count: Int64, channels: Int64, group: Int)
    -> Spent
{
    var spent = Spent()
    var number: Int64 = 0
    while number * Int64(group) < count {
        number += 1
        let batch = author.batch(number, of: group, channels: channels)
        let (start, startCPU) = (seconds(), seconds(CLOCK_THREAD_CPUTIME_ID))
        guard case .committed = journal.commit(batch) else { fatalError("not written") }  // Nothing to measure then.
        if journal.mustMaintain { _ = journal.maintain(budgetMilliseconds: 5) }
        spent.clock += seconds() - start
        spent.processor += seconds(CLOCK_THREAD_CPUTIME_ID) - startCPU
    }
    return spent
}

private func settle(_ journal: inout Journal) -> Double {
    let start = seconds()
    while journal.maintain(budgetMilliseconds: 100) {}
    return seconds() - start
}

private func databaseBytes(_ path: String) -> Int64 {
    ["", "-wal"].reduce(0) { sum, suffix in
        var status = stat()
        return stat(path + suffix, &status) == 0 ? sum + Int64(status.st_size) : sum
    }
}

private func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }

/// Microseconds of processor for each question, the median.
private func measure(_ rounds: Int, _ ask: (Int64) -> Int) -> (microseconds: Double, found: Int) {
    var spent: [Double] = []
    var found = 0
    for round in 0..<rounds {
        let start = seconds(CLOCK_THREAD_CPUTIME_ID)
        found = ask(Int64(round))
        spent.append((seconds(CLOCK_THREAD_CPUTIME_ID) - start) * 1e6)
    }
    return (median(spent), found)
}

private func pages(_ reader: inout Reader, channels: Int64, newest: Int64) {
    var random = SeededGenerator(seed: 3)
    let selectors: [(String, (Int64) -> PageSelector)] = [
        ("newest", { _ in .latest(after: nil) }), ("before a msgid", { .before(.position(max($0, newest / 2))) }),
        ("before a time", { .before(.time(1_780_000_000_000 + max($0, newest / 2))) }),
    ]
    for (name, selector) in selectors {
        let (cost, found) = measure(2_000) { round in
            let place = Conversation.channel(Int64.random(in: 1...channels, using: &random))
            let position = Int64.random(in: 1...newest, using: &random)
            return reader.page(
                HistoryQuestion(number: round, conversation: place, selector: selector(position), limit: 100)
            ).records.count
        }
        print("  a page of \(found), \(name): \(rounded(cost)) us of CPU")
    }
}

private func searches(_ reader: inout Reader, channels: Int64) {
    for (name, text) in [("a frequent word", "Base"), ("two words", "two"), ("a beginning", "0*")] {
        var author = Author()
        let words = author.message(channels: 1).text.description.split(separator: " ").map(String.init)
        let asked = text == "Base" ? words[0] : text == "two" ? words.prefix(2).joined(separator: " ") : text
        let (cost, found) = measure(20) { round in
            let page = reader.search(
                SearchQuestion(
                    number: round, places: Dictionary(uniqueKeysWithValues: (1...50).map { (.channel($0), 0) }),
                    text: ByteString(asked), limit: 50))
            return page.failure == nil ? page.records.count : -1
        }
        print("  \(name) in 50 channels, \(found) found: \(rounded(cost / 1000)) ms of CPU")
    }
}

private func run(_ messages: Int64, channels: Int64) throws {
    let path = "\(directory)/\(messages).db"
    print("\(messages) messages in \(channels) channels")
    var author = Author()
    do {
        var journal = try Store.open(path: path, durability: .off).takeJournal()
        _ = fill(&journal, &author, messages, channels: channels, group: 1_000)
        print("  moved to their places and indexed after \(rounded(settle(&journal))) s more")
    }
    print("  \(rounded(Double(databaseBytes(path)) / Double(messages))) bytes on disk a message, with the index")
    let start = seconds()
    let store = try Store.open(path: path, durability: .full)
    print("  start: \(rounded((seconds() - start) * 1000)) ms")
    var reader = store.readers.make()
    pages(&reader, channels: channels, newest: author.position)
    searches(&reader, channels: channels)
}

private func writing() throws {
    var author = Author()
    var journal = try Store.open(path: "\(directory)/writing.db", durability: .full).takeJournal()
    let count = max(wanted / 5, 100_000)
    for group in [100, 1_000, 10_000] {
        let spent = fill(&journal, &author, count, channels: 200, group: group)
        let rate = Int(Double(count) / spent.clock)
        let cost = rounded(spent.processor / Double(count) * 1e6)
        print(
            "\(count) messages to 200 channels in synced groups of \(group): \(rate) a second, \(cost) us of CPU each")
        _ = settle(&journal)
    }
}

do {
    try writing()
    try run(10_000, channels: 100)
    try run(wanted, channels: min(1_000, wanted / 100))
    print("left in \(directory)")
} catch {
    print("\(error)")
    exit(1)
}
