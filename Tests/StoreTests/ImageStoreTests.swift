import Bytes
import Chat
import Foundation
import Testing

@testable import Store

/// Rows of pictures and the files they name: neither without the other, whatever deletes a message.
@Suite struct ImageStoreTests {
    let scratch = Scratch()

    private static let place = Conversation.channel(1)

    /// Stands in for SHA-256: 64 digits that depend on every byte.
    private static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var dice = Dice(seed: bytes.reduce(17) { $0 &* 31 &+ UInt64($1) })
        return (0..<32).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
    }

    private static func hash(_ bytes: [UInt8]) -> ByteString { Hex.encode(digest(bytes)) }

    private func upload(_ id: Int64) -> UploadState {
        var state = UploadState(
            id: id, uid: UID(number: 7), conversation: Self.place, target: "#cats", type: .png)
        state.name = "cat.png"
        state.reference = "ref \(id)"
        state.caption = "my cat"
        state.tags = "+draft/reply=x"
        state.size = 100
        state.hash = "abc"
        return state
    }

    private func image(_ id: Int64, _ position: Int64, _ bytes: [UInt8], _ place: Conversation = place) -> ImageState {
        var image = ImageState(
            id: id, uid: UID(number: 7), conversation: place, type: .png, name: "cat.png", reference: "ref \(id)")
        image.position = position
        image.time = 1_000 + position
        image.hash = Self.hash(bytes)
        image.size = Int64(bytes.count)
        image.width = 3
        image.height = 2
        return image
    }

    /// The file, then the message and the row, as the server does it.
    private func post(
        _ id: Int64, _ position: Int64, _ bytes: [UInt8], _ journal: inout Journal, _ files: inout ImageFiles,
        in place: Conversation = place
    ) throws {
        #expect(files.append(bytes, at: 0, upload: id) == .written(upload: id, upTo: Int64(bytes.count)))
        #expect(try files.part(id, size: Int64(bytes.count)).read(at: 0, count: bytes.count) == bytes)
        let image = image(id, position, bytes, place)
        try files.put(bytes, hash: image.hash, upload: id)
        let records = place.isPortrait ? [] : [LogRecord.sample(position, place, text: "[image]")]
        let outcome = journal.commit(
            JournalBatch(number: position, records: records, changes: [.postImage(image, upload(id))]))
        #expect(outcome == .committed(batch: position))
        files.settle(upload: id, hash: image.hash, isStored: true)
    }

    private func names() -> [String] {
        let all = FileManager.default.enumerator(atPath: "\(scratch.path)/images")
        return (all?.compactMap { $0 as? String } ?? []).filter { $0.split(separator: "/").last!.count > 5 }.sorted()
    }

    private func ask(_ reader: inout Reader, _ wanted: ImageQuestion.Wanted, limit: Int = 10) -> ImageAnswer {
        reader.images(ImageQuestion(number: 5, wanted: wanted, limit: limit))
    }

    @Test func uploadsOutliveARestart() throws {
        do {
            var journal = try Store.open(path: scratch.database, durability: .off).takeJournal()
            _ = journal.commit(
                JournalBatch(number: 1, changes: [.saveUpload(upload(1)), .saveUpload(upload(2)), .dropUpload(2)]))
            let files = ImageFiles(database: scratch.database)
            #expect(files.append([1, 2, 3], at: 0, upload: 1) == .written(upload: 1, upTo: 3))
            #expect(
                files.append([9], at: 5, upload: 1)
                    == .notWritten(upload: 1, upTo: 3, reason: "the file is shorter"))
        }
        let store = try Store.open(path: scratch.database, durability: .off)
        var uploads = store.state.uploads
        #expect(uploads == [upload(1)])
        ImageFiles.measure(&uploads, database: scratch.database)
        #expect(uploads[0].received == 3)
    }

    @Test func answers() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        var files = ImageFiles(database: scratch.database)
        for position in Int64(1)...3 { try post(position, position, [1, 2, UInt8(position)], &journal, &files) }
        for isMoved in [false, true] {
            if isMoved { try journal.mergeAll() }
            var first = image(1, 1, [1, 2, 1])
            first.text = "[image]"
            #expect(ask(&reader, .image(1)).images == [first])
            #expect(ask(&reader, .image(9)).images == [])
            let page = ask(&reader, .list(Self.place, before: .max, oldest: 0), limit: 2)
            #expect(page.images.map(\.id) == [3, 2] && !page.isComplete)
            let rest = ask(&reader, .list(Self.place, before: 2, oldest: 0), limit: 2)
            #expect(rest.images.map(\.id) == [1] && rest.isComplete)
            #expect(ask(&reader, .list(Self.place, before: .max, oldest: 3)).images.map(\.id) == [3])
            let allowance = ask(&reader, .allowance(UID(number: 7), reference: "ref 2", since: 1_001))
            #expect(allowance.images.map(\.id) == [2])
            #expect(allowance.storedByIdentity == 6 && allowance.storedByServer == 9)
        }
    }

    @Test("The same picture twice is one file, which stays until the last message is gone", arguments: [false, true])
    func redaction(isMoved: Bool) throws {
        var journal = try Store.open(path: scratch.database, durability: .off).takeJournal()
        var files = ImageFiles(database: scratch.database)
        try post(1, 1, [1, 2, 3], &journal, &files)
        try post(2, 2, [1, 2, 3], &journal, &files)
        #expect(names().count == 1)
        if isMoved { try journal.mergeAll() }
        for (position, left) in [(1, 1), (2, 0)] as [(Int64, Int)] {
            var redaction = LogRecord.sample(position + 10, kind: .redact)
            redaction.counterpart = position
            #expect(journal.commit([redaction]) == .committed(batch: position + 10))
            let done = files.collect()
            #expect(done.count == 1 - left)
            journal.forgetImageFiles(done)
            #expect(names().count == left)
        }
        #expect(try journal.ask("SELECT count(*) FROM image_garbage") == 0)
        #expect(try journal.ask("SELECT bytes FROM image_total") == 0)
    }

    @Test func aDroppedChannelTakesItsPictures() throws {
        var journal = try Store.open(path: scratch.database, durability: .off).takeJournal()
        var files = ImageFiles(database: scratch.database)
        for position in Int64(1)...5 { try post(position, position, [UInt8(position)], &journal, &files) }
        try post(6, 6, [6], &journal, &files, in: .channel(2))
        _ = journal.commit(JournalBatch(number: 9, changes: [.dropChannel(id: 1)]))
        while journal.maintain(budgetMilliseconds: 100) {}
        journal.forgetImageFiles(files.collect())
        #expect(names().count == 1)
        #expect(try journal.ask("SELECT count(*) FROM images") == 1)
    }

    @Test func anErasedPersonTakesItsPictures() throws {
        var journal = try Store.open(path: scratch.database, durability: .off).takeJournal()
        var files = ImageFiles(database: scratch.database)
        try post(1, 1, [1, 2, 3], &journal, &files)
        _ = journal.commit(JournalBatch(number: 2, changes: [.erase(UID(number: 7))]))
        journal.forgetImageFiles(files.collect())
        #expect(names() == [])
        #expect(try journal.ask("SELECT count(*) FROM images") == 0)
    }

    @Test func aPortraitTakesThePlaceOfTheOneBefore() throws {
        let store = try Store.open(path: scratch.database, durability: .off)
        var reader = store.readers.make()
        var journal = store.takeJournal()
        var files = ImageFiles(database: scratch.database)
        for id in Int64(1)...2 {
            var image = image(id, 0, [UInt8(id)], .portrait(UID(number: 7)))
            image.reference = ""
            try files.put([UInt8(id)], hash: image.hash, upload: id)
            _ = journal.commit(JournalBatch(number: id, changes: [.postImage(image, upload(id))]))
            files.settle(upload: id, hash: image.hash, isStored: true)
            journal.forgetImageFiles(files.collect())
        }
        #expect(ask(&reader, .image(1)).images == [] && ask(&reader, .image(2)).images.count == 1)
        #expect(names().count == 1)
        _ = journal.commit(JournalBatch(number: 3, changes: [.dropPortrait(UID(number: 7))]))
        journal.forgetImageFiles(files.collect())
        #expect(names() == [])
    }

    @Test("What is behind the acknowledged end of an upload is not checked; what breaks off leaves nothing")
    func partsAndStages() throws {
        _ = try Store.open(path: scratch.database, durability: .off)
        let files = ImageFiles(database: scratch.database)
        _ = files.append([1, 2, 3, 4], at: 0, upload: 1)
        let part = try files.part(1, size: 3)
        #expect(lseek(part.descriptor, 0, SEEK_END) == 3)
        #expect(throws: (any Error).self) { try part.read(at: 2, count: 2) }
        try [UInt8](repeating: 5, count: 10).withUnsafeBytes { try files.stage(1).append($0) }
        #expect(!FileManager.default.fileExists(atPath: "\(scratch.path)/images/parts/1.clean"))
    }

    @Test("A file whose row is not committed yet is removed by nobody, and by its refusal")
    func unsettled() throws {
        var journal = try Store.open(path: scratch.database, durability: .off).takeJournal()
        var files = ImageFiles(database: scratch.database)
        try post(1, 1, [1, 2, 3], &journal, &files)
        let hash = Self.hash([1, 2, 3])
        try files.put([1, 2, 3], hash: hash, upload: 2)
        var redaction = LogRecord.sample(2, kind: .redact)
        redaction.counterpart = 1
        _ = journal.commit([redaction])
        #expect(files.collect() == [], "the second message may come")
        #expect(try files.read(hash, at: 1, count: 2) == [2, 3])
        files.settle(upload: 2, hash: hash, isStored: false)
        #expect(names() == [])
    }

    @Test("What a crash left is swept, and check-store names it before")
    func sweep() throws {
        do {
            var journal = try Store.open(path: scratch.database, durability: .off).takeJournal()
            var files = ImageFiles(database: scratch.database)
            try post(1, 1, [1, 2, 3], &journal, &files)
            _ = journal.commit(JournalBatch(number: 2, changes: [.saveUpload(upload(3))]))
            _ = files.append([1], at: 0, upload: 3)
            _ = files.append([1], at: 0, upload: 4)
            try files.put([4], hash: Self.hash([4]), upload: 4)
        }
        let problems = try StoreCheck.run(path: scratch.database, sha256: Self.digest)
        #expect(problems.count == 2 && problems.allSatisfy { $0.contains("no row names this file") })
        var files = ImageFiles(database: scratch.database)
        #expect(files.sweep() == 2)
        #expect(try StoreCheck.run(path: scratch.database, sha256: Self.digest) == [])
    }

    @Test("check-store names what is missing, damaged or counted wrong, and refuses a store in use")
    func check() throws {
        do {
            var journal = try Store.open(path: scratch.database, durability: .off).takeJournal()
            var files = ImageFiles(database: scratch.database)
            try post(1, 1, [1, 2, 3], &journal, &files)
            try post(2, 2, [4, 5, 6], &journal, &files)
            _ = journal.commit([LogRecord.sample(3)])
            #expect(throws: StoreError.self) { try StoreCheck.run(path: scratch.database, sha256: Self.digest) }
        }
        #expect(try StoreCheck.run(path: scratch.database, sha256: Self.digest) == [])
        let first = Self.hash([1, 2, 3]).string
        let second = Self.hash([4, 5, 6]).string
        let folder = "\(scratch.path)/images/files"
        try FileManager.default.removeItem(atPath: "\(folder)/\(first.prefix(2))/\(first)")
        try Data([4, 5, 7]).write(to: URL(fileURLWithPath: "\(folder)/\(second.prefix(2))/\(second)"))
        let problems = try StoreCheck.run(path: scratch.database, sha256: Self.digest)
        #expect(problems.count == 2)
        #expect(problems.contains { $0.contains("missing") } && problems.contains { $0.contains("damaged") })
    }
}

extension ImageFiles {
    /// As the server does when the picture was checked.
    fileprivate mutating func put(_ bytes: [UInt8], hash: ByteString, upload: Int64) throws {
        let staged = try stage(upload)
        try bytes.withUnsafeBytes { try staged.append($0) }
        try store(staged, hash: hash)
    }
}
