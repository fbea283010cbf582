import Glibc
import Foundation
import Synchronization

/// The real server as a process of its own, in a fresh directory, on free ports.
package final class ServerProcess: Sendable {
    private struct State {
        var configuration: ServerConfiguration
        var ports: [UInt16]
        var child: ChildProcess?
    }

    /// Holds the configuration, the data and the log; gone when the tests are.
    package let directory: String
    private let state: Mutex<State>

    /// Starts the server and waits until it answers on all its ports.
    package init(_ configuration: ServerConfiguration = ServerConfiguration()) throws {
        var template = Array("/tmp/parley-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw DoorError.system("mkdtemp") }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        Guardian.remove(directory: directory)
        let ports = configuration.listeners.map { _ in Ports.free() }
        state = Mutex(State(configuration: configuration, ports: ports))
        try start()
    }

    deinit {
        kill9()
        try? FileManager.default.removeItem(atPath: directory)
    }

    // MARK: Where it is

    /// The port of the n-th listener.
    package func port(_ listener: Int = 0) -> UInt16 { state.withLock { $0.ports[listener] } }

    package var pid: Int32 { state.withLock { $0.child?.pid ?? 0 } }

    package var isRunning: Bool { state.withLock { $0.child?.hasEnded == false } }

    package var configurationPath: String { "\(directory)/parley.toml" }

    /// Everything it has written to its log (standard error) over all its starts.
    package var log: String {
        (try? String(decoding: Data(contentsOf: URL(fileURLWithPath: "\(directory)/log")), as: UTF8.self)) ?? ""
    }

    /// A client in the clear on the n-th listener.
    package func connect(_ label: String = "client", listener: Int = 0) throws -> LineClient {
        try LineClient(port: port(listener), label: label)
    }

    /// A connected plain session that has come in as `nick`.
    package func person(_ nick: String) throws -> LineClient {
        let client = try connect(nick)
        try client.enter(nick)
        return client
    }

    /// A registered IRC client that has read what the server tells on registration.
    package func client(_ nick: String, _ capabilities: String...) throws -> LineClient {
        let client = try connect(nick)
        try client.register(nick, capabilities: capabilities)
        try client.sync()
        return client
    }

    // MARK: Its life

    /// Starts it again on the same data, ports and configuration; by then it must have ended.
    package func start(within seconds: Double = 20) throws {
        for attempt in 1...3 {
            try writeConfiguration()
            let child = try spawn()
            state.withLock { $0.child = child }
            let ports = state.withLock { $0.ports }
            let ready = Deadline.seconds(seconds).wait(every: 1) {
                child.hasEnded || ports.allSatisfy { (try? LineClient(port: $0)) != nil }
            }
            if ready && !child.hasEnded { return }
            guard child.hasEnded, attempt < 3, log.suffix(2000).contains("in use") else { break }
            // Another process was quicker to take a port that was free a moment ago.
            state.withLock { $0.ports = $0.ports.map { _ in Ports.free() } }
        }
        throw DoorError("the server does not start; its log ends:\n\(log.suffix(3000))")
    }

    /// Starts it and does not care how far it comes.
    package func startWithoutWaiting() throws {
        let child = try spawn()
        state.withLock { $0.child = child }
    }

    package func kill9() { end(SIGKILL) }

    /// SIGTERM; throws unless it ends by itself, with success.
    package func terminate(within seconds: Double = 10) throws {
        guard let child = state.withLock({ $0.child }) else { return }
        child.kill(SIGTERM)
        guard let status = child.wait(.seconds(seconds)) else { throw DoorError("the server does not end on SIGTERM") }
        guard status == 0 else { throw DoorError("the server ended with status \(status):\n\(log.suffix(3000))") }
    }

    package func restart() throws {
        try terminate()
        try start()
    }

    /// Asks for a reload (SIGHUP), with another configuration if one is given.
    package func reload(_ configuration: ServerConfiguration? = nil) throws {
        if let configuration { state.withLock { $0.configuration = configuration } }
        try writeConfiguration()
        signal(SIGHUP)
    }

    package func signal(_ signal: Int32) { state.withLock { $0.child?.kill(signal) } }

    private func end(_ signal: Int32) {
        guard let child = state.withLock({ $0.child }) else { return }
        child.kill(signal)
        _ = child.wait(.seconds(10))
    }

    private func writeConfiguration() throws {
        let text = state.withLock { $0.configuration.text(ports: $0.ports, directory: directory) }
        try text.write(toFile: configurationPath, atomically: true, encoding: .utf8)
    }

    private func spawn() throws -> ChildProcess {
        let log = open("\(directory)/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0 else { throw DoorError.system("the server's log") }
        defer { close(log) }
        let limit = state.withLock { $0.configuration.descriptorLimit }
        let shell = limit.map { ["sh", "-c", "ulimit -n \($0); exec \"$@\"", "sh"] } ?? []
        return try ChildProcess(
            shell + [Self.binary, "serve", "--config", configurationPath], directory: directory, output: log,
            errors: log)
    }

    /// `PARLEY_BIN`, or the binary that was built next to the tests.
    package static let binary: String = {
        if let given = ProcessInfo.processInfo.environment["PARLEY_BIN"], !given.isEmpty {
            return URL(fileURLWithPath: given).path
        }
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appendingPathComponent("parley").path
    }()
}
