import Bytes
import Wire

let accountCommand = Command(
    "ACCOUNT", minimum: 1, access: .operators, privilege: .accounts, source: "docs/PROTOCOL.md, Operators",
    help: [
        "ACCOUNT ADD <name> <email|*> <password> | PASSWD <name> <password> | DELETE <name>",
        "ACCOUNT LIST [mask] [after] | CERT <name> LIST|ADD|DEL [fingerprint]",
        "Adds accounts and manages those of others; SUSPEND and UNSUSPEND lock them. At the server's own machine",
        "`parley account` does the same and reads passwords from its input.", "Example: ACCOUNT LIST an*",
    ]
) { world, turn in world.administer(turn) }

extension World {
    fileprivate mutating func administer(_ turn: Turn) {
        switch AccountOrder(turn[0]) {
        case .list: listAccounts(turn)
        case .add where turn.parameterCount > 3: addAccount(turn)
        case .passwd where turn.parameterCount > 2: setPassword(turn)
        case .delete where turn.parameterCount > 1:
            if !isOwnAccount(turn, turn[1]) { manage(turn, turn[1], .close) }
        case .cert where turn.parameterCount > 2: manageCertificates(turn)
        case nil:
            fail(
                turn, "INVALID_PARAMS", "Known are ADD, LIST, PASSWD, DELETE and CERT",
                about: [shown(turn[0], atMost: 32)])
        default: needMoreParameters(turn)
        }
    }

    /// Asks the store for the account; `carryOut` goes on.
    mutating func manage(_ turn: Turn, _ name: ByteView, _ aim: Errand.Aim) {
        look(up: .account(Names.fold(name)), for: operatorErrand(turn, name, aim))
    }

    private func operatorErrand(_ turn: Turn, _ name: ByteView, _ aim: Errand.Aim) -> Errand {
        var errand = Errand(turn.session, .command(turn.command), aim)
        errand.name = shown(name)
        errand.operatorName = operatorName(turn)
        return errand
    }

    /// Nobody locks itself out by mistake.
    mutating func isOwnAccount(_ turn: Turn, _ name: ByteView) -> Bool {
        let own = users[turn.me].account
        guard own.withView({ name.equalsIgnoringCase($0) }) else { return false }
        fail(turn, "OWN_ACCOUNT", "That account is yours; nothing was done", about: [own])
        return true
    }

    // MARK: ADD and PASSWD

    /// The account of somebody who comes later. A guest who has its name as a nick now keeps it until then.
    private mutating func addAccount(_ turn: Turn) {
        let errand = operatorErrand(turn, turn[1], .nothing)
        let password = ByteString(freeText(turn, 3))
        guard mayBeAccount(errand.name, besides: user(named: turn[1]), errand),
            turn[2] == "*" || isAcceptable(email: turn[2], errand),
            password.withView({ isAcceptable($0, errand) })
        else { return }
        beginRegistration(errand, makeUID(), email: turn[2], isVerified: true, password)
    }

    /// Whoever may do this can be anybody.
    private mutating func setPassword(_ turn: Turn) {
        guard requireOperator(turn, .credentials) else { return }
        manage(turn, turn[1], .changePassword(ByteString(freeText(turn, 2))))
    }

    private mutating func manageCertificates(_ turn: Turn) {
        if turn[2].equalsIgnoringCase("LIST") { return manage(turn, turn[1], .listCertificates) }
        let isAdding = turn[2].equalsIgnoringCase("ADD")
        guard isAdding || turn[2].equalsIgnoringCase("DEL") else {
            return fail(turn, "INVALID_PARAMS", "Known are LIST, ADD and DEL", about: [shown(turn[2], atMost: 32)])
        }
        guard let fingerprint = turn.parameter(3).flatMap({ Certificates.fingerprint($0) }) else {
            return fail(turn, "INVALID_PARAMS", "A fingerprint is SHA-256: 64 hexadecimal digits")
        }
        if !isAdding { return manage(turn, turn[1], .removeCertificate(fingerprint)) }
        if requireOperator(turn, .credentials) { manage(turn, turn[1], .addCertificate(fingerprint)) }
    }

    // MARK: LIST

    private static var listed: Int { 200 }

    private mutating func listAccounts(_ turn: Turn) {
        let mask = turn.parameter(1) ?? ByteView("*")
        var errand = operatorErrand(turn, .empty, .listAccounts(mask: ByteString(mask)))
        errand.name = "*"
        let after = turn.parameter(2).map { Names.fold($0) } ?? ""
        look(up: .accounts(after: after, limit: Self.listed), for: errand)
    }

    /// `NOTE ACCOUNT ENTRY <name> <uid> <standing> <created> <email|*> :<why it is suspended>`
    mutating func listAccounts(_ errand: Errand, _ mask: ByteString) {
        guard let found = errand.answer?.accounts else { return }
        note(errand, "listed accounts \(mask)", own: "")
        for account in found where mask.withView({ mask in account.name.withView { Mask.matches(mask, $0) } }) {
            let email: ByteString = account.email.isEmpty ? "*" : account.email
            tell(
                errand.session,
                "NOTE ACCOUNT ENTRY \(account.name) \(account.uid.text) \(account.standingShown) \(Times.serverTime(account.created * 1000)) \(email) :\(account.suspension)"
            )
        }
        let isComplete = found.count < Self.listed
        let next: ByteString = isComplete ? "" : " \(found[found.count - 1].name)"
        let text: ByteString = isComplete ? "That is all" : "There are more after this name"
        tell(errand.session, "NOTE ACCOUNT END *\(next) :\(text)")
    }
}

private enum AccountOrder {
    case add, list, passwd, delete, cert

    init?(_ word: ByteView) {
        let known: [(StaticString, AccountOrder)] = [
            ("ADD", .add), ("LIST", .list), ("PASSWD", .passwd), ("DELETE", .delete), ("CERT", .cert),
        ]
        guard let found = known.first(where: { word.equalsIgnoringCase($0.0) }) else { return nil }
        self = found.1
    }
}

extension AccountState {
    fileprivate var standingShown: StaticString {
        switch standing {
        case .unverified: "unverified"
        case .open: suspension.isEmpty ? "open" : "suspended"
        case .closed: "closed"
        }
    }
}
