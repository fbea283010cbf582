import Bytes
import Chat
import CSystem
import Glibc
import Net
import Store

/// `parley serve`: starts, serves until it is told to stop, and gives the process's status.
package func serve(_ configuration: Configuration, file: String?, _ environment: Environment) -> Int32 {
    let log = Log(configuration.log, hasJournal: environment.hasJournal)
    do {
        var server = try Startup.make(configuration, file: file, environment, log)
        server.run()
        return Exit.success
    } catch {
        log.error("start.failed", ["reason": .text("\(error)")])
        return Exit.failure
    }
}

/// Everything a running server is made of: the core on this thread, the journal, the reader, the hasher and the mailer
/// on theirs.
private struct RunningServer: ~Copyable {
    var core: Core
    var reactor: Reactor
    let ports: CorePorts
    let journal: ThreadHandle
    let reader: ThreadHandle
    let searcher: ThreadHandle
    let images: ThreadHandle
    let hashers: Hashers
    let mailer: Mailer
    let reload: Reloading
    let log: Log

    mutating func run() {
        while core.turn(&reactor) {
            if core.wantsReload { reloadConfiguration() }
        }
        ports.reader.post(.stop)
        ports.searcher.post(.stop)
        ports.images.post(.stop)
        images.join()
        ports.journal.post(.stop)
        reader.join()
        searcher.join()
        journal.join()
        hashers.stop()
        mailer.stop()
        log.info("stopped")
    }

    private mutating func reloadConfiguration() {
        guard let settings = reload.load(log) else { return core.reloadFailed() }
        if let tls = reload.tls(log) { reactor.setTLS(tls) }
        ports.journal.post(.retain(settings.retention))
        core.reload(settings)
        log.info("reloaded")
    }
}

private enum Startup {
    static func make(
        _ configuration: Configuration, file: String?, _ environment: Environment, _ log: Log
    ) throws -> RunningServer {
        _ = raiseDescriptorLimit()  // Every connection is a descriptor: the hard limit is the server's size.
        let places = Places(configuration, environment)
        try DataDirectory.prepare(places)
        let secret = try Secret.load(places.secret).bytes.bytes
        let opened = try Store.open(path: places.database, durability: Durability(configuration.store.durability))
        var state = opened.state
        ImageFiles.measure(&state.uploads, database: places.database)
        let readers = opened.readers
        let limits = NetLimits(configuration)
        var reactor = try Reactor(limits: limits)
        reactor.wrongProtocolText = WrongProtocol.texts
        reactor.crowdedText = Crowded.text
        try listen(&reactor, configuration, places, log)
        do {
            try reactor.listen(path: places.console)
        } catch {
            log.warn("console.skipped", ["reason": .text("\(error)")])
        }
        reactor.watchSignals([SIGHUP, SIGTERM, SIGINT])

        let answers = Mailbox<Answer>(waker: reactor.waker)
        let hashers = try Hashers { answers.post(.hashed($0)) }
        let mailer = try Mailer { number, isSent in answers.post(.mailed(number: number, isSent: isSent)) }
        let mail = MailSettings(configuration.accounts, host: places.serverName)
        let ports = CorePorts(
            answers: answers, journal: try Mailbox(), reader: try Mailbox(), searcher: try Mailbox(),
            images: try Mailbox(),
            hash: { hashers.ask($0) }, mail: { mailer.send($0, mail) })
        let journal = startJournal(opened.takeJournal(), ports, log)
        let reader = startReader(readers, ports)
        let searcher = startSearcher(readers, ports)
        let images = startImages(places.database, ports, log)
        let reload = Reloading(file: file, started: Clock.moment().wall, places: places, environment: environment)
        let motd = reload.motd(configuration, log) ?? reload.builtInMotd(configuration)
        let settings = Settings(configuration, serverName: places.serverName, motd: motd, started: reload.started)
        let confusables = try Confusables()
        let cloak = Cloak(isEnabled: configuration.cloak.enabled, secret: secret)
        let world = World(
            settings: settings,
            ports: Ports(
                mac: { Crypto.hmacSHA256(key: secret, $0) },
                digest: Digest(sha256: { Crypto.sha256($0) }, hmac: { Crypto.hmacSHA256(key: $0, $1) }),
                skeleton: { confusables.skeleton($0) },
                peer: { cloak.peer($0, limits) },
                isWithin: isWithin,
                seed: Crypto.randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) }),
            stored: state)
        let core = Core(
            world: world, ports: ports, log: log, cloak: cloak,
            sendQueue: configuration.limits.sendQueue)
        ports.journal.post(.retain(settings.retention))
        tellReady(places, channels: state.channels.count, log)
        return RunningServer(
            core: core, reactor: reactor, ports: ports, journal: journal, reader: reader, searcher: searcher,
            images: images,
            hashers: hashers, mailer: mailer, reload: reload, log: log)
    }

    private static func tellReady(_ places: Places, channels: Int, _ log: Log) {
        log.info(
            "ready",
            [
                "name": .text(places.serverName), "database": .text(places.database), "channels": .number(channels),
            ])
    }

    private static func listen(
        _ reactor: inout Reactor, _ configuration: Configuration, _ places: Places, _ log: Log
    ) throws {
        if configuration.listeners.contains(where: { $0.mode != .plain }) {
            let isNew = try DataDirectory.makeCertificate(places)
            reactor.setTLS(try TLSContext(certificateFile: places.certificate, keyFile: places.key))
            let fingerprint = try certificateFingerprint(places.certificate)
            log.info(
                isNew ? "certificate.made" : "certificate",
                ["file": .text(places.certificate), "sha256": .text(fingerprint)])
        }
        for listener in configuration.listeners {
            let mode: ListenerMode =
                switch listener.mode {
                case .plain: .plain
                case .tls: .tls
                case .both: .both
                }
            do {
                let port = try reactor.listen(
                    ListenerSpec(
                        address: listener.address, port: UInt16(listener.port), mode: mode,
                        isProxied: listener.proxy, isWebSocket: listener.websocket))
                log.info(
                    "listening",
                    ["address": .text(listener.address), "port": .number(port), "mode": .text(listener.mode.rawValue)])
            } catch {
                guard configuration.hasDefaultListeners, listener.address == "::1" else { throw error }
                log.warn("listen.skipped", ["address": .text(listener.address), "reason": .text("\(error)")])
            }
        }
    }
}

/// One thread writes: commits come first, maintenance when nothing waits or when it must be.
private func startJournal(_ journal: consuming Journal, _ ports: CorePorts, _ log: Log) -> ThreadHandle {
    let box = HandOver(journal)
    return startThread(name: "journal") {
        var writer = JournalThread(journal: box.take(), ports: ports)
        writer.run()
    }
}

private struct JournalThread: ~Copyable {
    var journal: Journal
    let ports: CorePorts
    private var isFailing = false
    private var hasMore = true

    init(journal: consuming Journal, ports: CorePorts) {
        self.journal = journal
        self.ports = ports
    }

    mutating func run() {
        while true {
            let requests = ports.journal.waitAndTakeAll(timeoutMilliseconds: timeout)
            for request in requests {
                switch request {
                case .commit(let batch): commit(batch)
                case .forgetImageFiles(let garbage): journal.forgetImageFiles(garbage)
                case .retain(let retention): retain(retention)
                case .stop: return
                }
            }
            if isFailing {
                if journal.probe() {
                    isFailing = false
                    ports.answers.post(.journal(.recovered))
                }
            } else if requests.isEmpty || journal.mustMaintain {
                hasMore = journal.maintain(budgetMilliseconds: 5)
            }
        }
    }

    private mutating func retain(_ retention: Retention) {
        journal.retain(retention)
        hasMore = true
    }

    /// Maintenance waits for a pause, so that no commit waits for it.
    private var timeout: Int { isFailing ? 500 : hasMore ? 20 : 1_000 }

    private mutating func commit(_ batch: JournalBatch) {
        let outcome = journal.commit(batch)
        if case .failed = outcome { isFailing = true }
        hasMore = true
        ports.answers.post(.journal(outcome))
    }
}

private func startReader(_ readers: Readers, _ ports: CorePorts) -> ThreadHandle {
    startThread(name: "reader") {
        var reader = readers.make()
        while true {
            for request in ports.reader.waitAndTakeAll() {
                switch request {
                case .page(let question): ports.answers.post(.page(reader.page(question)))
                case .direct(let question): ports.answers.post(.direct(reader.direct(question)))
                case .sent(let question): ports.answers.post(.sent(reader.sent(question)))
                case .receipts(let question): ports.answers.post(.receipts(reader.receipts(question)))
                case .identity(let question): ports.answers.post(.identity(reader.identity(question)))
                case .images(let question): ports.answers.post(.images(reader.images(question)))
                case .stop: return
                }
            }
        }
    }
}

/// Searches may take long: pages of history do not wait for them.
private func startSearcher(_ readers: Readers, _ ports: CorePorts) -> ThreadHandle {
    startThread(name: "searcher") {
        var reader = readers.make()
        while true {
            for request in ports.searcher.waitAndTakeAll() {
                switch request {
                case .search(let question): ports.answers.post(.page(reader.search(question)))
                case .stop: return
                }
            }
        }
    }
}

extension Durability {
    fileprivate init(_ durability: Configuration.Store.Durability) {
        self =
            switch durability {
            case .full: .full
            case .normal: .normal
            case .off: .off
            }
    }
}

extension MailSettings {
    fileprivate init(_ accounts: Configuration.Accounts, host: String) {
        self.init(
            command: accounts.mailCommand, from: accounts.mailFrom.isEmpty ? "parley@\(host)" : accounts.mailFrom,
            host: host)
    }
}

/// One that is no address, or no network, is nowhere: the configuration is checked before.
private func isWithin(_ address: ByteString, _ networks: [ByteString]) -> Bool {
    guard let address = PeerAddress(address.string, port: 0) else { return false }
    return networks.contains { AddressRange($0.string)?.contains(address) ?? false }
}

extension NetLimits {
    fileprivate init(_ configuration: Configuration) {
        self.init()
        sendQueueBytes = configuration.limits.sendQueue
        handshakeTimeoutMs = Int(configuration.limits.handshake.milliseconds)
        connectionsPerNetwork = configuration.networks.connections
        connectsPerMinute = configuration.networks.connectsPerMinute
        ipv4Prefix = configuration.networks.ipv4Prefix
        ipv6Prefix = configuration.networks.ipv6Prefix
        exemptions = configuration.networks.exempt.compactMap { AddressRange($0) }
        trustedProxies = configuration.server.trustedProxies.compactMap { AddressRange($0) }
        webSocketOrigins = configuration.server.websocketOrigins.map { ByteString($0) }
        gateways = configuration.gateways.flatMap(\.hosts).compactMap { AddressRange($0) }
        var limit = rlimit()
        _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // What the process itself opens: database, log, wakers.
        let most = max(16, Int(clamping: limit.rlim_cur) - 64)
        maximumConnections = configuration.limits.connections > 0 ? min(configuration.limits.connections, most) : most
    }
}
