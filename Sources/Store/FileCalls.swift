import Glibc

/// What a system call on a file answered instead of success.
struct FileFailure: Error, CustomStringConvertible {
    let code: Int32

    var description: String { String(cString: strerror(code)) }

    /// Again when a signal came between; -1 becomes the failure.
    @discardableResult
    static func check<Number: SignedInteger>(_ call: () -> Number) throws(FileFailure) -> Number {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw FileFailure(code: errno) }
        }
    }
}

extension Files {
    /// nil: there is none.
    static func size(_ path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// With what is missing above it, for the owner alone; the new entries are durable.
    static func makeDirectory(_ path: String) throws(FileFailure) {
        if exists(path) { return }
        try makeDirectory(directory(of: path))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileFailure(code: errno) }
        sync(directory(of: path))
    }

    static func writeAll(_ descriptor: Int32, _ bytes: [UInt8], at offset: Int64) throws(FileFailure) {
        var done = 0
        while done < bytes.count {
            let count = try FileFailure.check {
                bytes.withUnsafeBytes {
                    pwrite(descriptor, $0.baseAddress! + done, $0.count - done, off_t(offset) + off_t(done))
                }
            }
            done += count
        }
    }

    /// Exactly so many bytes.
    static func read(_ path: String, at offset: Int64, count: Int) throws(FileFailure) -> [UInt8] {
        let descriptor = try FileFailure.check { open(path, O_RDONLY | O_CLOEXEC) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = try FileFailure.check {
                bytes.withUnsafeMutableBytes {
                    pread(descriptor, $0.baseAddress! + done, count - done, off_t(offset) + off_t(done))
                }
            }
            if got == 0 { throw FileFailure(code: EIO) }
            done += got
        }
        return bytes
    }

    /// Written and synced under another name, then moved to its place; both are durable on return.
    static func place(_ bytes: [UInt8], at path: String, by temporary: String) throws(FileFailure) {
        unlink(temporary)
        let descriptor = try FileFailure.check { open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        do throws(FileFailure) {
            defer { close(descriptor) }
            try writeAll(descriptor, bytes, at: 0)
            try FileFailure.check { fsync(descriptor) }
            try FileFailure.check { rename(temporary, path) }
        } catch {
            unlink(temporary)
            throw error
        }
        guard sync(directory(of: path)) else { throw FileFailure(code: EIO) }
    }

    /// Entries of a directory; none where there is no such directory.
    static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
