import Foundation
import TestKit

/// A file system so small that it can be filled.
final class SmallDisk {
    static let isPossible: Bool = {
        guard geteuid() == 0, let disk = try? SmallDisk(megabytes: 1) else { return false }
        return (try? disk.fill()) != nil
    }()

    let path: String

    init(megabytes: Int) throws {
        path = "\(NSTemporaryDirectory())parley-test-\(Door.unique("disk"))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let mount = try Pipeline.run("mount -t tmpfs -o size=\(megabytes)m tmpfs \(path)")
        guard mount.status == 0 else { throw DoorError("mount: \(mount.output)") }
    }

    deinit { _ = try? Pipeline.run("umount -l \(path); rmdir \(path)") }

    /// Takes all the room there is.
    func fill() throws {
        try Pipeline.run("dd if=/dev/zero of=\(path)/filler bs=4096 2>/dev/null; test -s \(path)/filler")
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: "\(path)/filler") }
}
