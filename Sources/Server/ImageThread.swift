import Bytes
import Chat
import Glibc
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
        // Of this thread and of the workers it starts: what is said goes before pictures.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
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
        let part: ImagePart
        let intake: Intake
        do {
            part = try files.part(finish.upload, size: finish.size)
            if !finish.hash.isEmpty {
                let found = try hash(of: part)
                if found != finish.hash { return .hashMismatch(found: found) }
            }
            let head = try part.read(at: 0, count: Int(min(16, part.size)))
            guard let kind = head.withUnsafeBytes({ ImageKind(ByteView($0)) }) else { return .broken(Self.unknown) }
            if kind.rawValue != finish.type.rawValue {
                return ImageType(rawValue: kind.rawValue).map { .isOther($0) } ?? .broken(Self.unknown)
            }
            intake = Intake(try files.stage(finish.upload))
        } catch {
            return .storeFull(reason: "\(error)")
        }
        let verdict = worker.check(part.descriptor, size: part.size, megapixels: finish.megapixels) { intake.take($0) }
        if let failure = intake.failure { return .storeFull(reason: failure) }
        switch verdict {
        case .clean(let kind, let width, let height):
            guard kind.rawValue == finish.type.rawValue else { return .broken("it changed its kind") }
            return store(intake, finish.type, width, height)
        case .refused(.unknown): return .broken(Self.unknown)
        case .refused(.broken(let why)): return .broken(why)
        case .refused(.tooLarge(let why)): return .tooLarge(why)
        case .died(let how):
            log.warn("images.worker", ["ended": .text(how)])
            return .broken("checking it failed")
        case .none(let reason): return .failed(reason: reason)
        }
    }

    private static let unknown = "it is none of the kinds that are known"

    private func hash(of part: ImagePart) throws -> ByteString {
        let sum = RunningSHA256()
        for at in stride(from: 0, to: part.size, by: 256 << 10) {
            let piece = try part.read(at: at, count: Int(min(256 << 10, part.size - at)))
            piece.withUnsafeBytes { sum.add($0) }
        }
        return Hex.encode(sum.finish())
    }

    private mutating func store(_ intake: Intake, _ type: ImageType, _ width: Int, _ height: Int) -> ImageOutcome {
        let hash = Hex.encode(intake.sum.finish())
        do {
            try files.store(intake.staged, hash: hash)
        } catch {
            return .storeFull(reason: "\(error)")
        }
        return .stored(
            hash: hash, type, size: intake.staged.size, width: Int64(width), height: Int64(height))
    }
}

/// A clean picture on its way from the worker to the disk.
private final class Intake {
    let staged: StagedImage
    let sum = RunningSHA256()
    private(set) var failure: String?

    init(_ staged: StagedImage) { self.staged = staged }

    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        sum.add(bytes)
        do { try staged.append(bytes) } catch { failure = "\(error)" }
        return failure == nil
    }
}
