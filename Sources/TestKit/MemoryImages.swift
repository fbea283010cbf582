package import Bytes
package import Chat
import Images
import Net

/// The pictures' files and rows in their simplest form: arrays, and everything is checked at once.
package final class MemoryImages {
    package private(set) var parts: [Int64: [UInt8]] = [:]
    package private(set) var files: [ByteString: [UInt8]] = [:]
    package private(set) var images: [ImageState] = []
    package private(set) var uploads: [Int64: UploadState] = [:]
    /// Nothing more can be written.
    package var isFull = false
    /// What checking says of the next picture, whatever it is.
    package var outcome: ImageOutcome?

    package init() {}

    func commit(_ records: [LogRecord], _ changes: [Change]) {
        for change in changes {
            switch change {
            case .saveUpload(let state): uploads[state.id] = state
            case .dropUpload(let id): uploads[id] = nil
            case .postImage(let image, let state):
                uploads[state.id] = nil
                if image.conversation.isPortrait { images.removeAll { $0.conversation == image.conversation } }
                images.append(image)
            case .dropPortrait(let uid): images.removeAll { $0.conversation == .portrait(uid) }
            case .erase(let uid): images.removeAll { $0.uid == uid }
            case .dropChannel(let id): images.removeAll { $0.conversation == .channel(id) }
            default: break
            }
        }
        for record in records where record.kind == .redact {
            images.removeAll { $0.conversation == record.conversation && $0.position == record.counterpart }
        }
    }

    func answer(_ question: ImageQuestion, _ log: [LogRecord]) -> ImageAnswer {
        var answer = ImageAnswer(number: question.number)
        switch question.wanted {
        case .image(let id): answer.images = images.filter { $0.id == id }
        case .allowance(let uid, let reference, let since):
            answer.images = images.filter { $0.uid == uid && $0.reference == reference && !reference.isEmpty }
            answer.storedByIdentity = images.filter { $0.uid == uid && $0.time > since }.reduce(0) { $0 + $1.size }
            answer.storedByServer = files.values.reduce(0) { $0 + Int64($1.count) }
        case .list(let conversation, let before, let oldest):
            let found = images.filter {
                $0.conversation == conversation && $0.position < before && $0.position >= oldest
            }
            let sorted = found.sorted { $0.position > $1.position }
            answer.images = Array(sorted.prefix(question.limit))
            answer.isComplete = sorted.count <= question.limit
        }
        for index in answer.images.indices {
            answer.images[index].text = log.first { $0.position == answer.images[index].position }?.text ?? ""
        }
        return answer
    }

    func carryOut(_ order: ImageOrder) -> ImageEvent? {
        switch order {
        case .append(let upload, let offset, let bytes):
            let part = parts[upload] ?? []
            if isFull || part.count != offset {
                return .notWritten(upload: upload, upTo: Int64(part.count), reason: "full")
            }
            parts[upload] = part + bytes
            return .written(upload: upload, upTo: offset + Int64(bytes.count))
        case .finish(let finish): return .finished(number: finish.number, check(finish))
        case .settle(let upload, _, let isStored): if isStored { parts[upload] = nil }
        case .discard(let upload): parts[upload] = nil
        case .read(let number, let hash, let offset, let count):
            let file = files[hash] ?? []
            if file.count < Int(offset) + count { return .bytes(number: number, [], failure: "missing") }
            return .bytes(number: number, Array(file[Int(offset)..<Int(offset) + count]), failure: nil)
        case .collect: break
        }
        let named = Set(images.map(\.hash))
        files = files.filter { named.contains($0.key) }
        return nil
    }

    private func check(_ finish: ImageFinish) -> ImageOutcome {
        if let outcome {
            self.outcome = nil
            return outcome
        }
        let bytes = parts[finish.upload] ?? []
        if isFull { return .storeFull(reason: "full") }
        if bytes.count != finish.size { return .failed(reason: "\(bytes.count) bytes") }
        let found = Hex.encode(Crypto.sha256(bytes))
        if !finish.hash.isEmpty, finish.hash != found { return .hashMismatch(found: found) }
        let result = bytes.withUnsafeBytes { bytes -> Result<CleanImage, ImageFault> in
            let limits = ImageLimits(pixels: finish.megapixels * 1_000_000)
            do throws(ImageFault) { return .success(try cleanImage(ByteView(bytes), limits)) } catch {
                return .failure(error)
            }
        }
        switch result {
        case .failure(.unknown): return .broken("unknown")
        case .failure(.broken(let why)): return .broken(why)
        case .failure(.tooLarge(let why)): return .tooLarge(why)
        case .success(let image):
            guard let type = ImageType(rawValue: image.kind.rawValue), type == finish.type else {
                return .isOther(ImageType(rawValue: image.kind.rawValue) ?? finish.type)
            }
            let hash = Hex.encode(Crypto.sha256(image.bytes))
            files[hash] = image.bytes
            return .stored(
                hash: hash, type, size: Int64(image.bytes.count), width: Int64(image.width), height: Int64(image.height)
            )
        }
    }
}
