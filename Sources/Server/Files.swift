import Glibc

/// The few files a server reads and writes outside its database.
enum Files {
    struct Failure: Error, Sendable {
        let code: Int32

        init(code: Int32) { self.code = code }

        /// The last call's.
        static var last: Failure { Failure(code: errno) }

        var reason: String { String(cString: strerror(code)) }
    }

    /// The whole file; longer than `limit` is EFBIG.
    static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        let descriptor = try check { open(path, O_RDONLY | O_CLOEXEC) }
        defer { close(descriptor) }
        return try readAll(descriptor, limit: limit)
    }

    static func readAll(_ descriptor: Int32, limit: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = try check { Glibc.read(descriptor, &chunk, chunk.count) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            if bytes.count > limit { throw Failure(code: EFBIG) }
        }
    }

    static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) throws(Failure) {
        var done = 0
        while done < bytes.count {
            done += try check { bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + done, $0.count - done) } }
        }
    }

    /// Whole or not at all, also over a crash: a new file beside it, synced, takes its place.
    static func replace(_ path: String, with bytes: [UInt8], mode: mode_t) throws(Failure) {
        let temporary = path + ".new"
        unlink(temporary)
        let descriptor = try check { open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        do {
            defer { close(descriptor) }
            try writeAll(descriptor, bytes)
            try check { fsync(descriptor) }
        } catch {
            unlink(temporary)
            throw error
        }
        try check { rename(temporary, path) }
        try syncDirectory(of: path)
    }

    static func syncDirectory(of path: String) throws(Failure) {
        let descriptor = try check { open(directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(descriptor) }
        try check { fsync(descriptor) }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The permission bits.
    static func mode(_ path: String) throws(Failure) -> mode_t {
        var status = stat()
        try check { stat(path, &status) }
        return status.st_mode & 0o7777
    }

    static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Missing parents as well, each 0700. What is there already stays as it is.
    static func makeDirectories(_ path: String) throws(Failure) {
        if path.isEmpty || mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw .last }
        try makeDirectories(directory(of: path))
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw .last }
    }

    /// Again when a signal came between; -1 becomes the failure.
    @discardableResult
    static func check<Number: SignedInteger>(_ call: () -> Number) throws(Failure) -> Number {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw .last }
        }
    }
}
