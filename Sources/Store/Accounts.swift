import Bytes
import Chat
import Wire

/// Writing an `AccountChange`.
struct AccountStatements: ~Copyable, Sendable {
    private let add: Statement
    private let verify: Statement
    private let setCredentials: Statement
    private let setCode: Statement
    private let suspend: Statement
    private let close: Statement
    private let remove: Statement
    private let addCertificate: Statement
    private let removeCertificate: Statement
    private let removeCertificates: Statement

    init(_ database: borrowing Database) {
        add = database.prepare(
            """
            INSERT OR REPLACE INTO accounts (uid, created, standing, code_expires, name, folded, look, hash, scram, email,
                suspension, code) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            """)
        verify = database.prepare("UPDATE accounts SET standing = 1, code = '', code_expires = 0 WHERE uid = ?1")
        setCredentials = database.prepare(
            "UPDATE accounts SET hash = ?2, scram = ?3, code = '', code_expires = 0 WHERE uid = ?1")
        setCode = database.prepare("UPDATE accounts SET code_expires = ?2, code = ?3 WHERE uid = ?1")
        suspend = database.prepare("UPDATE accounts SET suspension = ?2 WHERE folded = ?1")
        close = database.prepare(
            """
            UPDATE accounts SET standing = 2, hash = '', scram = '', email = '', code = '', code_expires = 0
            WHERE uid = ?1
            """)
        remove = database.prepare("DELETE FROM accounts WHERE uid = ?1 AND standing = 0")
        addCertificate = database.prepare("INSERT OR REPLACE INTO certificates (uid, fingerprint) VALUES (?1, ?2)")
        removeCertificate = database.prepare("DELETE FROM certificates WHERE uid = ?1 AND fingerprint = ?2")
        removeCertificates = database.prepare("DELETE FROM certificates WHERE uid = ?1")
    }

    func apply(_ change: AccountChange) throws(SQLiteFailure) {
        switch change {
        case .add(let state): try insert(state)
        case .verify(let uid): try verify.run(uid.number)
        case .setCredentials(let uid, let credentials):
            setCredentials.bind(1, uid.number)
            setCredentials.bind(2, credentials.hash)
            setCredentials.bind(3, credentials.scram)
            try setCredentials.run()
        case .setCode(let uid, let code, let expires):
            setCode.bind([uid.number, expires])
            setCode.bind(3, code)
            try setCode.run()
        case .suspend(let name, let reason):
            suspend.bind(1, name)
            suspend.bind(2, reason)
            try suspend.run()
        case .close(let uid):
            try close.run(uid.number)
            try removeCertificates.run(uid.number)
        case .remove(let uid):
            try remove.run(uid.number)
            try removeCertificates.run(uid.number)
        case .addCertificate(let uid, let fingerprint): try run(addCertificate, uid, fingerprint)
        case .removeCertificate(let uid, let fingerprint): try run(removeCertificate, uid, fingerprint)
        }
    }

    private func run(
        _ statement: borrowing Statement, _ uid: UID, _ fingerprint: ByteString
    ) throws(SQLiteFailure) {
        statement.bind(1, uid.number)
        statement.bind(2, fingerprint)
        try statement.run()
    }

    private func insert(_ state: AccountState) throws(SQLiteFailure) {
        add.bind([state.uid.number, state.created, Int64(state.standing.rawValue), state.codeExpires])
        add.bind(5, state.name)
        add.bind(6, state.name.withView { Names.fold($0) })
        add.bind(7, state.look)
        add.bind(8, state.credentials.hash)
        add.bind(9, state.credentials.scram)
        add.bind(10, state.email)
        add.bind(11, state.suspension)
        add.bind(12, state.code)
        try add.run()
    }
}

/// Reading accounts, by uid, name and certificate.
struct AccountRows: ~Copyable, Sendable {
    private let account: Statement
    private let byName: Statement
    private let byCertificate: Statement
    private let certificates: Statement
    private let following: Statement

    init(_ database: borrowing Database) {
        account = database.prepare(
            """
            SELECT name, look, hash, scram, email, created, standing, suspension, code, code_expires
            FROM accounts WHERE uid = ?1
            """)
        byName = database.prepare("SELECT uid FROM accounts WHERE folded = ?1")
        byCertificate = database.prepare("SELECT uid FROM certificates WHERE fingerprint = ?1")
        certificates = database.prepare("SELECT fingerprint FROM certificates WHERE uid = ?1")
        following = database.prepare("SELECT uid FROM accounts WHERE folded > ?1 ORDER BY folded LIMIT ?2")
    }

    /// In order of their folded names, behind this one.
    func accounts(after name: ByteString, limit: Int) throws(SQLiteFailure) -> [AccountState] {
        following.bind(1, name)
        following.bind(2, Int64(limit))
        defer { following.reset() }
        var found: [AccountState] = []
        while try following.step() {
            if let account = try account(UID(number: following.integer(0))) { found.append(account) }
        }
        return found
    }

    /// By the folded name; nil: there is none.
    func uid(named name: ByteString) throws(SQLiteFailure) -> UID? { try find(byName, name) }

    func uid(certificate fingerprint: ByteString) throws(SQLiteFailure) -> UID? { try find(byCertificate, fingerprint) }

    private func find(_ statement: borrowing Statement, _ text: ByteString) throws(SQLiteFailure) -> UID? {
        statement.bind(1, text)
        defer { statement.reset() }
        return try statement.step() ? UID(number: statement.integer(0)) : nil
    }

    func account(_ uid: UID) throws(SQLiteFailure) -> AccountState? {
        account.bind(1, uid.number)
        defer { account.reset() }
        // A standing that is not known (written by a later release) is no account that may do anything here.
        guard try account.step(),
            let standing = UInt8(exactly: account.integer(6)).flatMap(AccountState.Standing.init)
        else { return nil }
        var state = AccountState(
            uid: uid, name: account.bytes(0), look: account.bytes(1),
            credentials: Credentials(hash: account.bytes(2), scram: account.bytes(3)), email: account.bytes(4),
            created: account.integer(5), standing: standing)
        state.suspension = account.bytes(7)
        state.code = account.bytes(8)
        state.codeExpires = account.integer(9)
        certificates.bind(1, uid.number)
        defer { certificates.reset() }
        while try certificates.step() { state.certificates.append(certificates.bytes(0)) }
        return state
    }
}
