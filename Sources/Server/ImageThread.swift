import Bytes
import Chat
import Images
import Net
import Store

/// The one thread that touches the pictures' files: it writes what comes in, has it checked, reads what goes out.
func startImages(_ database: String, _ ports: CorePorts, _ log: Log) -> ThreadHandle {
    startThread(name: "images") {
        var thread = ImageThread(files: ImageFiles(database: database), ports: ports, log: log)
        thread.run()
    }
}

private struct ImageThread: ~Copyable {
    private var files: ImageFiles
    private let worker = ImageWorker()
    private let ports: CorePorts
    private let log: Log
    /// How often files are looked for that no row names any more, for what is deleted by itself.
    private let interval = 10_000

    init(files: consuming ImageFiles, ports: CorePorts, log: Log) {
        self.files = files
        self.ports = ports
        self.log = log
    }

    mutating func run() {
        let removed = files.sweep()
        if removed > 0 { log.info("images.swept", ["files": .number(removed)]) }
        collect()
        while true {
            let requests = ports.images.waitAndTakeAll(timeoutMilliseconds: interval)
            if requests.isEmpty { collect() }
            for request in requests {
                guard case .order(let order) = request else { return }
                carryOut(order)
            }
        }
    }

    private mutating func carryOut(_ order: ImageOrder) {
        switch order {
        case .append(let upload, let offset, let bytes): tell(files.append(bytes, at: offset, upload: upload))
        case .finish(let finish): tell(.finished(number: finish.number, self.finish(finish)))
        case .settle(let upload, let hash, let isStored): files.settle(upload: upload, hash: hash, isStored: isStored)
        case .discard(let upload): files.discard(upload)
        case .read(let number, let hash, let offset, let count):
            do {
                tell(.bytes(number: number, try files.read(hash, at: offset, count: count), failure: nil))
            } catch {
                tell(.bytes(number: number, [], failure: "\(error)"))
            }
        case .collect: collect()
        }
    }

    private func tell(_ event: ImageEvent) { ports.answers.post(.image(event)) }

    private mutating func collect() {
        let done = files.collect()
        if !done.isEmpty { ports.journal.post(.forgetImageFiles(done)) }
    }

    // MARK: Checking

    private mutating func finish(_ finish: ImageFinish) -> ImageOutcome {
        let bytes: [UInt8]
        do {
            bytes = try files.part(finish.upload, size: finish.size)
        } catch {
            return .storeFull(reason: "\(error)")
        }
        if !finish.hash.isEmpty {
            let found = Hex.encode(Crypto.sha256(bytes))
            if found != finish.hash { return .hashMismatch(found: found) }
        }
        guard
            let kind = bytes.withUnsafeBytes({ ImageKind(ByteView($0)) }).flatMap({ ImageType(rawValue: $0.rawValue) })
        else { return .broken("it is none of the kinds that are known") }
        if kind != finish.type { return .isOther(kind) }
        switch worker.check(bytes, megapixels: finish.megapixels) {
        case .clean(let image): return store(image, finish)
        case .refused(.unknown): return .broken("it is none of the kinds that are known")
        case .refused(.broken(let why)): return .broken(why)
        case .refused(.tooLarge(let why)): return .tooLarge(why)
        case .died(let how):
            log.warn("images.worker", ["ended": .text(how)])
            return .broken("checking it failed")
        case .none(let reason): return .failed(reason: reason)
        }
    }

    private mutating func store(_ image: CleanImage, _ finish: ImageFinish) -> ImageOutcome {
        guard image.kind.rawValue == finish.type.rawValue else { return .broken("it changed its kind") }
        let hash = Hex.encode(Crypto.sha256(image.bytes))
        do {
            try files.store(image.bytes, hash: hash, upload: finish.upload)
        } catch {
            return .storeFull(reason: "\(error)")
        }
        return .stored(
            hash: hash, finish.type, size: Int64(image.bytes.count), width: Int64(image.width),
            height: Int64(image.height))
    }
}
