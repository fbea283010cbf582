import Bytes
import Foundation
import Server
import TestKit

func matches(_ password: String, _ hash: String) -> Bool {
    ByteString(password).withView { PasswordHash.matches($0, ByteString(hash)) }
}

/// Gone with the value that holds it.
final class TemporaryDirectory {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("parley-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        return "\(path)/\(name)"
    }

    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
}

// Macros with a type in them, which Swift does not import (asm-generic/ioctls.h).
private let TIOCSPTLCK = 0x4004_5431
private let TIOCGPTN = 0x8004_5430

/// A process at a pseudo-terminal.
final class Terminal {
    private let descriptor: Int32
    private let child: ChildProcess
    private var seen = ""
    private let deadline = Deadline.seconds(20)

    init(_ arguments: [String]) throws {
        descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var unlock: Int32 = 0
        var number: UInt32 = 0
        guard descriptor >= 0, ioctl(descriptor, UInt(TIOCSPTLCK), &unlock) == 0,
            ioctl(descriptor, UInt(TIOCGPTN), &number) == 0
        else { throw DoorError("no pseudo-terminal") }
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(slave) }
        child = try ChildProcess(arguments, input: slave, output: slave, errors: slave)
    }

    deinit { close(descriptor) }

    func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw DoorError("the terminal takes nothing")
        }
    }

    func expect(_ text: String) throws {
        while !seen.contains(text) {
            guard try readMore() else { throw DoorError("no \(text), but: \(seen)") }
        }
    }

    /// All that was shown, when the process has ended.
    func finish() throws -> String {
        while try readMore() {}
        _ = child.wait(deadline)
        return seen
    }

    var status: Int32? { child.exitStatus }

    var hasEcho: Bool {
        var settings = termios()
        return tcgetattr(descriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// False when nobody holds the other side any more.
    private func readMore() throws -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, deadline.left) > 0 else { throw DoorError("the terminal is silent; so far: \(seen)") }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        if count <= 0 { return false }
        seen += String(decoding: buffer[..<count], as: UTF8.self)
        return true
    }
}
