import Glibc

/// What the process was given besides its arguments.
package struct Environment: Sendable {
    /// systemd's StateDirectory=, the first one; nil: none.
    package var stateDirectory: String?
    /// Standard error goes to the journal.
    package var hasJournal: Bool
    package var hostName: String

    package init(stateDirectory: String? = nil, hasJournal: Bool = false, hostName: String = "localhost") {
        self.stateDirectory = stateDirectory
        self.hasJournal = hasJournal
        self.hostName = hostName
    }

    /// This process's.
    package static var process: Environment {
        let directories = variable("STATE_DIRECTORY") ?? ""
        return Environment(
            stateDirectory: directories.split(separator: ":").first.map(String.init),
            hasJournal: variable("JOURNAL_STREAM").map(isStandardError) ?? false, hostName: hostNameOfMachine())
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// systemd.exec(5): `device:inode` of the journal's stream, which an inherited variable no longer names when the
    /// output has been sent elsewhere.
    private static func isStandardError(_ stream: String) -> Bool {
        var status = stat()
        return fstat(STDERR_FILENO, &status) == 0 && stream == "\(status.st_dev):\(status.st_ino)"
    }

    private static func hostNameOfMachine() -> String {
        var room = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
        guard gethostname(&room, room.count - 1) == 0 else { return "localhost" }
        return String(decoding: room.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The names and files that follow from a configuration and from where the server runs.
package struct Places: Sendable, Equatable {
    package let serverName: String
    /// The directory of the database.
    package let dataDirectory: String
    package let database: String
    package let secret: String
    /// The socket by which the program's own verbs reach the running server.
    package let console: String
    package let certificate: String
    package let key: String
    /// No certificate is configured: one is made where there is none.
    package let makesCertificate: Bool

    package init(_ configuration: Configuration, _ environment: Environment) {
        let configured = configuration.store.path
        let state = environment.stateDirectory ?? "./data"
        database = configured.isEmpty ? "\(state)/parley.db" : configured
        dataDirectory = Files.directory(of: database)
        secret = "\(dataDirectory)/secret"
        console = "\(dataDirectory)/admin.sock"
        makesCertificate = configuration.tls.certificate.isEmpty
        certificate = makesCertificate ? "\(dataDirectory)/tls-cert.pem" : configuration.tls.certificate
        key = makesCertificate ? "\(dataDirectory)/tls-key.pem" : configuration.tls.key
        serverName = Self.serverName(configuration.server.name, environment.hostName)
    }

    private static func serverName(_ configured: String, _ hostName: String) -> String {
        if !configured.isEmpty { return configured }
        return Checks.complaint(serverName: hostName) == nil ? hostName : "parley.local"
    }
}
