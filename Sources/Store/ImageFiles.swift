package import Bytes
package import Chat
import Glibc

/// The pictures' bytes beside the database, for the one thread that owns them: `images/parts/<id>` is what came of an
/// upload, `images/files/ab/<hash>` a picture. A picture's file is there before its row is committed, and is removed
/// after the commit that took the last row which named it; what a crash leaves in between, the sweep at the start
/// removes.
package struct ImageFiles: ~Copyable, Sendable {
    private let places: ImagePlaces
    private let path: String
    /// nil: to be opened at the next question.
    private var rows: ImageFileRows?
    /// Files that were written and whose rows are not committed yet.
    private var unsettled: [ByteString: Int] = [:]

    package init(database path: String) {
        self.path = path
        places = ImagePlaces(database: path)
    }

    // MARK: Uploads

    /// What came of each.
    package static func measure(_ uploads: inout [UploadState], database path: String) {
        let places = ImagePlaces(database: path)
        for index in uploads.indices { uploads[index].received = Files.size(places.part(uploads[index].id)) ?? 0 }
    }

    package func append(_ bytes: [UInt8], at offset: Int64, upload: Int64) -> ImageEvent {
        do throws(FileFailure) {
            let descriptor = try open(part: places.part(upload))
            defer { close(descriptor) }
            var status = stat()
            try FileFailure.check { fstat(descriptor, &status) }
            if status.st_size < offset {
                return .notWritten(upload: upload, upTo: Int64(status.st_size), reason: "the file is shorter")
            }
            let failure = bytes.withUnsafeBytes { bytes -> FileFailure? in
                do throws(FileFailure) { try Files.writeAll(descriptor, bytes, at: offset) } catch { return error }
                return nil
            }
            if let failure {
                ftruncate(descriptor, off_t(offset))
                return .notWritten(upload: upload, upTo: offset, reason: failure.description)
            }
            return .written(upload: upload, upTo: offset + Int64(bytes.count))
        } catch {
            return .notWritten(upload: upload, upTo: 0, reason: error.description)
        }
    }

    /// The folder is made when it is missing.
    private func open(part path: String) throws(FileFailure) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor >= 0 { return descriptor }
        guard errno == ENOENT else { throw FileFailure(code: errno) }
        try Files.makeDirectory(places.parts)
        return try FileFailure.check { Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }
    }

    /// All that came; nothing may have come.
    package func part(_ upload: Int64, size: Int64) throws -> ImagePart {
        try Files.makeDirectory(places.parts)
        return try ImagePart(places.part(upload), size: size)
    }

    package func discard(_ upload: Int64) { unlink(places.part(upload)) }

    // MARK: Pictures

    package func stage(_ upload: Int64) throws -> StagedImage {
        try Files.makeDirectory(places.parts)
        return try StagedImage("\(places.part(upload)).clean")
    }

    /// Whole, synced and in its place, or not at all. Until `settle` no removal touches it.
    package mutating func store(_ image: StagedImage, hash: ByteString) throws {
        unsettled[hash, default: 0] += 1
        do throws(FileFailure) {
            let file = places.file(hash)
            if Files.size(file) == image.size { return }
            try Files.makeDirectory(Files.directory(of: file))
            try image.place(at: file)
        } catch {
            forget(hash)
            throw error
        }
    }

    package mutating func settle(upload: Int64, hash: ByteString, isStored: Bool) {
        forget(hash)
        if isStored { discard(upload) }
        if unsettled[hash] == nil, isNamed(hash) == false { unlink(places.file(hash)) }
    }

    private mutating func forget(_ hash: ByteString) {
        let left = (unsettled[hash] ?? 0) - 1
        unsettled[hash] = left > 0 ? left : nil
    }

    package func read(_ hash: ByteString, at offset: Int64, count: Int) throws -> [UInt8] {
        try Files.read(places.file(hash), at: offset, count: count)
    }

    // MARK: Removing

    /// Removes files that no row names any more. The rows of `image_garbage` that are done with, for the journal.
    package mutating func collect() -> [Int64] {
        var done: [Int64] = []
        do throws(SQLiteFailure) {
            try open()
            for (id, hash) in try rows!.garbage() where unsettled[hash] == nil {
                unlink(places.file(hash))
                done.append(id)
            }
        } catch { rows = nil }
        return done
    }

    /// nil: it could not be found out.
    private mutating func isNamed(_ hash: ByteString) -> Bool? {
        do throws(SQLiteFailure) {
            try open()
            return try rows!.isNamed(hash)
        } catch {
            rows = nil
            return nil
        }
    }

    private mutating func open() throws(SQLiteFailure) {
        if rows == nil { rows = try ImageFileRows.open(path: path) }
    }

    /// At the start, before anything else: removes what no row names, and tells how much that was.
    package mutating func sweep() -> Int {
        var removed = 0
        do throws(SQLiteFailure) {
            try open()
            for name in Files.names(in: places.parts) {
                if let id = Int64(name), try rows!.isUpload(id) { continue }
                unlink("\(places.parts)/\(name)")
                removed += 1
            }
            for folder in Files.names(in: places.files) {
                for name in Files.names(in: "\(places.files)/\(folder)") where try !rows!.isNamed(ByteString(name)) {
                    unlink("\(places.files)/\(folder)/\(name)")
                    removed += 1
                }
            }
        } catch { rows = nil }
        return removed
    }
}

/// Where the files are.
struct ImagePlaces: Sendable {
    let parts: String
    let files: String

    init(database path: String) {
        let directory = "\(Files.directory(of: path))/images"
        parts = "\(directory)/parts"
        files = "\(directory)/files"
    }

    func part(_ upload: Int64) -> String { "\(parts)/\(upload)" }

    /// 256 folders, so that none is too long.
    func file(_ hash: ByteString) -> String { "\(files)/\(hash[0..<2].string)/\(hash.string)" }
}

/// What the owner of the files asks the database.
struct ImageFileRows: ~Copyable, Sendable {
    private let database: Database
    private let named: Statement
    private let upload: Statement
    private let removed: Statement

    static func open(path: String) throws(SQLiteFailure) -> ImageFileRows {
        let database = try Database(path: path, access: .read)
        database.wait(milliseconds: 2_000)
        let rows = ImageFileRows(database)
        try rows.database.checkPrepared()
        return rows
    }

    private init(_ database: consuming Database) {
        named = database.prepare("SELECT 1 FROM image_files WHERE hash = ?1")
        upload = database.prepare("SELECT 1 FROM uploads WHERE id = ?1")
        removed = database.prepare("SELECT id, hash FROM image_garbage ORDER BY id LIMIT 1000")
        self.database = database
    }

    func isNamed(_ hash: ByteString) throws(SQLiteFailure) -> Bool {
        defer { named.reset() }
        named.bind(1, hash)
        return try named.step()
    }

    func isUpload(_ id: Int64) throws(SQLiteFailure) -> Bool {
        defer { upload.reset() }
        upload.bind([id])
        return try upload.step()
    }

    func garbage() throws(SQLiteFailure) -> [(id: Int64, hash: ByteString)] {
        defer { removed.reset() }
        var found: [(Int64, ByteString)] = []
        while try removed.step() { found.append((removed.integer(0), removed.bytes(1))) }
        return found
    }
}
