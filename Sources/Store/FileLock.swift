import Glibc

/// A file beside the database, locked while a process serves it; the kernel lets go when the process ends, however.
///
/// Not the database file itself: POSIX drops all of SQLite's own locks when any descriptor of that file is closed.
struct FileLock: ~Copyable, Sendable {
    private let descriptor: Int32

    init(database path: String) throws(StoreError) {
        let descriptor = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Files.failure(path, "cannot open the lock file") }
        guard Self.lock(descriptor) else {
            let busy = errno == EWOULDBLOCK
            let failure = Files.failure(path, "cannot lock")
            let owner = Self.readOwner(descriptor)
            close(descriptor)
            throw busy ? .locked(path: path, process: owner) : failure
        }
        self.descriptor = descriptor
        let owner = Array("\(getpid())\n".utf8)
        // For the error message of others alone; a full disk must not keep us from starting.
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, owner, owner.count, 0) }
    }

    /// A child that was being started when its server died holds the lock until it begins: a moment.
    private static func lock(_ descriptor: Int32) -> Bool {
        for _ in 0..<100 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK, let owner = readOwner(descriptor), kill(pid_t(owner), 0) < 0, errno == ESRCH
            else { break }
            usleep(10_000)
        }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    deinit {
        // Closing alone would leave the lock with a child that was forked just now.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func readOwner(_ descriptor: Int32) -> Int? {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int(String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self))
    }
}

/// The few file operations that SQLite does not do for us.
enum Files {
    static func failure(_ path: String, _ what: String) -> StoreError {
        .io(path: path, reason: "\(what): \(String(cString: strerror(errno)))")
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Creates the missing directories above `path`, for the owner alone.
    static func createDirectory(of path: String) throws(StoreError) {
        let directory = directory(of: path)
        if exists(directory) { return }
        try createDirectory(of: directory)
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw failure(path, "cannot create \(directory)") }
        sync(Self.directory(of: directory))
    }

    /// An empty file for the owner alone; SQLite gives its side files the same mode. false: there is one already.
    static func create(_ path: String) throws(StoreError) -> Bool {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0 && errno == EEXIST { return false }
        guard descriptor >= 0 else { throw failure(path, "cannot create") }
        close(descriptor)
        sync(directory(of: path))
        return true
    }

    /// Makes a file's content or a directory's entries durable; whether that worked.
    @discardableResult
    static func sync(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    /// Whether the disk takes `count` new bytes at `path`, by writing and syncing them; the file is gone afterwards.
    static func hasRoom(at path: String, count: Int) -> Bool {
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer {
            close(descriptor)
            unlink(path)
        }
        let block = [UInt8](repeating: 0x2E, count: 1 << 16)
        var left = count
        while left > 0 {
            let written = write(descriptor, block, min(left, block.count))
            if written <= 0 { return false }
            left -= written
        }
        return fsync(descriptor) == 0
    }
}
