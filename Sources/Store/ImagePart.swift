import Glibc

/// What came of an upload, open to be checked; a reader of the descriptor begins at the first byte and finds no more
/// than was acknowledged.
package final class ImagePart: Sendable {
    package let descriptor: Int32
    package let size: Int64

    init(_ path: String, size: Int64) throws(FileFailure) {
        self.size = size
        descriptor = try FileFailure.check { Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
        try FileFailure.check { ftruncate(descriptor, off_t(size)) }
    }

    deinit { close(descriptor) }

    package func read(at offset: Int64, count: Int) throws -> [UInt8] {
        try Files.read(descriptor, at: offset, count: count)
    }
}

/// A picture while it is written, beside its place; gone if it does not get there.
package final class StagedImage {
    private let path: String
    private let descriptor: Int32
    package private(set) var size: Int64 = 0

    init(_ path: String) throws(FileFailure) {
        self.path = path
        unlink(path)
        descriptor = try FileFailure.check { Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    package func append(_ bytes: UnsafeRawBufferPointer) throws {
        try Files.writeAll(descriptor, bytes, at: size)
        size += Int64(bytes.count)
    }

    /// Synced, then moved; both are durable on return.
    func place(at file: String) throws(FileFailure) {
        try FileFailure.check { fsync(descriptor) }
        try FileFailure.check { rename(path, file) }
        guard Files.sync(Files.directory(of: file)) else { throw FileFailure(code: EIO) }
    }
}
