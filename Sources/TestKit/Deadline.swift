import Glibc

/// A moment on the monotonic clock by which something must have happened. Tests wait for a condition until a deadline;
/// they never sleep in the hope that it came true.
package struct Deadline: Sendable {
    private let milliseconds: Int64

    package static func seconds(_ seconds: Double) -> Deadline {
        Deadline(milliseconds: now() + Int64(seconds * 1000))
    }

    /// Milliseconds of the monotonic clock.
    package static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Milliseconds left, never below 0; what poll() takes.
    package var left: Int32 { Int32(max(0, min(milliseconds - Self.now(), Int64(Int32.max)))) }

    package var isOver: Bool { left == 0 }

    /// Asks again every `every` milliseconds until `condition` holds; false when the deadline came first.
    package func wait(every: UInt32 = 5, for condition: () throws -> Bool) rethrows -> Bool {
        while true {
            if try condition() { return true }
            if isOver { return false }
            usleep(every * 1000)
        }
    }
}

/// What went wrong at the door, with what was seen last.
package struct DoorError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    static func system(_ what: String) -> DoorError { DoorError("\(what): \(String(cString: strerror(errno)))") }
}
