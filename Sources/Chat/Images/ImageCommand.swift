import Bytes
import Wire

let imageCommands: [Command] = [imageCommand]

private let imageCommand = Command(
    "IMG", cost: 0, source: "docs/PROTOCOL.md, Images",
    help: [
        "IMG PASTE <#channel|nick|*> <type> [:caption]",
        "Sends a picture: type this line, then the file in base64 (base64 cat.jpg), then a line with a dot alone.",
        "The type is image/jpeg, image/png, image/gif or image/webp; * in place of a channel makes it your photo.",
        "IMG LIST <#channel|nick> shows what pictures there are, IMG INFO <id> one of them, IMG GET <id> [<offset>",
        "[<length>]] [chunk=4500] its bytes in base64, IMG STOP <id> stops that, IMG DEL <id> removes one of yours.",
        "For programs: IMG BEGIN <target> <type> <size|*> [name=…;sha256=…;ref=…|-] [:caption],",
        "IMG DATA <id|*> <offset|*> <base64>, IMG END <id|*> [<sha256>], and IMG ABORT, RESUME, STATUS <id>.",
        "Example: IMG PASTE #lobby image/jpeg :my cat",
    ]
) { world, turn in
    world.image(turn)
    world.refusePasteIfNotTaken(turn)
}

/// The words behind IMG.
private enum ImageVerb: String, CaseIterable {
    case begin, data, end, abort, resume, status, paste, get, stop, info, url, del, list

    init?(_ word: ByteView) {
        let found = ImageVerb.allCases.first { ByteString($0.rawValue).withView { $0.equalsIgnoringCase(word) } }
        guard let found else { return nil }
        self = found
    }

    /// Parameters behind the word.
    var minimum: Int {
        switch self {
        case .begin, .data: 3
        case .paste: 2
        case .status: 0
        default: 1
        }
    }

    /// In thousandths of a message. Data are metered by the window, in bytes.
    var cost: Int64 {
        switch self {
        case .data, .end, .stop: 0
        case .begin, .paste, .list: 2000
        default: 1000
        }
    }
}

extension World {
    fileprivate mutating func image(_ turn: Turn) {
        guard settings.images.isEnabled else { return fail(turn, "DISABLED", "Pictures are switched off here") }
        guard let word = turn.parameter(0) else {
            return fail(turn, "NEED_MORE_PARAMS", "IMG what? HELP IMG tells\(hint(turn, "; try IMG LIST #lobby"))")
        }
        guard let verb = ImageVerb(word) else {
            return fail(turn, "INVALID_PARAMS", "There is no such IMG command; HELP IMG tells", about: [shown(word)])
        }
        charge(turn.session, verb.cost)
        guard turn.parameterCount > verb.minimum else {
            let name = ByteString(verb.rawValue.uppercased())
            return fail(turn, "NEED_MORE_PARAMS", "Not enough parameters; HELP IMG tells", about: [name])
        }
        switch verb {
        case .begin: beginImage(turn)
        case .paste: pasteImage(turn)
        case .data: imageData(turn)
        case .end: endImage(turn)
        case .abort: abortImage(turn)
        case .resume: resumeImage(turn)
        case .status: imageStatus(turn)
        case .get: getImage(turn)
        case .stop: stopImage(turn)
        case .info: lookForImage(turn, .info)
        case .del: deleteImage(turn)
        case .list: listImages(turn)
        case .url:
            fail(turn, "DISABLED", "There are no links to pictures here; IMG GET fetches them", about: [shown(turn[1])])
        }
    }

    /// What is pasted after a PASTE that was refused must not be taken for something said.
    fileprivate mutating func refusePasteIfNotTaken(_ turn: Turn) {
        guard let word = turn.parameter(0), word.equalsIgnoringCase("PASTE"), !isPasting(turn.session),
            !sessions[turn.session].isWaiting
        else { return }
        images.pastes[turn.session.index] = Paste()
    }

    // MARK: Which picture

    /// `*`: the newest of this connection, else of this identity.
    func imageNumber(_ word: ByteView, _ session: ConnectionID) -> Int64? {
        guard word == "*" else { return ImageID.number(word) }
        if let own = images.newest[session.index] { return own }
        return sessions[session].user.flatMap { images.newestOf[users[$0].uid] }
    }

    /// An upload of this identity; others' are as unknown as those that never were.
    mutating func upload(_ turn: Turn, _ word: ByteView) -> Upload? {
        guard let number = imageNumber(word, turn.session), let upload = images.uploads[number],
            upload.state.uid == users[turn.me].uid
        else { return nil }
        return upload
    }

    mutating func refuseUnknownImage(_ turn: Turn, _ word: ByteView) {
        fail(turn, "UNKNOWN_ID", "There is no such picture, or it is not for you to see", about: [shown(word)])
    }

    // MARK: Answers that come later

    /// What `body` says is the answer to an earlier IMG of this session.
    mutating func answerImage(
        _ session: ConnectionID, label: ByteString = "", _ body: (inout World, Turn) -> Void
    ) {
        guard sessions.contains(session), sessions[session].stage == .registered else { return }
        let line: ByteString = "IMG"
        let user = sessions[session].user
        answer(session, label: label) { world in
            line.withView { view in
                guard let message = Message(parsing: view) else { return }
                body(&world, Turn(session: session, user: user, message: message, command: "IMG"))
            }
        }
    }

    /// The same, after the session's input waited for it.
    mutating func answerWaiting(
        _ session: ConnectionID, label: ByteString, _ body: (inout World, Turn) -> Void
    ) {
        guard sessions.contains(session) else { return }
        sessions[session].isWaiting = false
        answerImage(session, label: label, body)
        guard sessions.contains(session), sessions[session].stage != .closing else { return }
        if !isInputBlocked(session) { effects.resumes.append(session) }
        endInputIfOver(session)
    }
}
