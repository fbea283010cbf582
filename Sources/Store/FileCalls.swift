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

    static func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileFailure) {
        var done = 0
        while done < bytes.count {
            done += try FileFailure.check {
                pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
            }
        }
    }

    static func read(_ path: String, at offset: Int64, count: Int) throws(FileFailure) -> [UInt8] {
        let descriptor = try FileFailure.check { open(path, O_RDONLY | O_CLOEXEC) }
        defer { close(descriptor) }
        return try read(descriptor, at: offset, count: count)
    }

    /// Exactly so many bytes.
    static func read(_ descriptor: Int32, at offset: Int64, count: Int) throws(FileFailure) -> [UInt8] {
        var failure: FileFailure?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { room, done in
            while done < count {
                let got = pread(descriptor, room.baseAddress! + done, count - done, off_t(offset) + off_t(done))
                if got < 0, errno == EINTR { continue }
                if got <= 0 {
                    failure = FileFailure(code: got == 0 ? EIO : errno)
                    return
                }
                done += got
            }
        }
        if let failure { throw failure }
        return bytes
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
