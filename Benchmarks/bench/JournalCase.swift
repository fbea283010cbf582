import Bytes
import Chat
import Glibc
import Store

extension Bench {
    /// The thread that writes, without waiting for the disk; what SQLite does is its own and not counted to the budget.
    func journal() {
        let directory = "/tmp/parley-bench-journal-\(getpid())"
        defer { removeAll(directory) }
        do {
            let store = try Store.open(path: "\(directory)/parley.db", durability: .off)
            var journal = store.takeJournal()
            let text: ByteString = "a line of the usual length, as people type them"
            var position: Int64 = 0
            var number: Int64 = 0
            measure("journal, a record of 100", rounds: 300, batch: 100) {
                let records = (1...100).map { step in
                    LogRecord(
                        position: position + Int64(step), conversation: .channel(Int64(step % 10 + 1)),
                        time: 1_780_000_000_000 + position + Int64(step), kind: .privmsg, uid: UID(number: 5),
                        source: "n5!n@bench", name: "n", text: text)
                }
                position += 100
                number += 1
                let outcome = journal.commit(JournalBatch(number: number, records: records))
                precondition(outcome == .committed(batch: number))
            }
        } catch { preconditionFailure("\(error)") }
    }

    private func removeAll(_ directory: String) {
        for name in ["parley.db", "parley.db-wal", "parley.db-shm", "parley.db.lock"] { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }
}
