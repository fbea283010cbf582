import CSystem
import Glibc

/// A running thread. `join` it once.
package struct ThreadHandle: Sendable {
    fileprivate let thread: pthread_t

    package func join() { pthread_join(thread, nil) }
}

/// Starts a thread with all signals blocked: they are read where `Reactor.watchSignals` says, and interrupt nobody.
/// The kernel shows the first 15 bytes of `name`.
package func startThread(name: String, _ body: @escaping @Sendable () -> Void) -> ThreadHandle {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
    let failure = pthread_create(&thread, nil, runThread, start.toOpaque())
    precondition(failure == 0, "cannot start a thread: \(SystemError.text(failure))")
    return ThreadHandle(thread: thread)
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

// A top-level function: a closure literal here would carry the isolation of where it is written.
private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let start = Unmanaged<ThreadStart>.fromOpaque(argument!).takeRetainedValue()
    pthread_setname_np(pthread_self(), String(start.name.utf8.prefix(15)) ?? "")
    start.body()
    return nil
}
