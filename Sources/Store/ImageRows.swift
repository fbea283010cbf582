import Bytes
import Chat

/// Writing what is known of pictures; the counting is done by triggers.
struct ImageStatements: ~Copyable, Sendable {
    static let uploadColumns = "id, uid, a, b, target, type, size, hash, name, reference, caption, tags"
    static let columns = "id, uid, a, b, position, time, hash, type, size, width, height, name, reference"

    private let saveUpload: Statement
    private let dropUpload: Statement
    private let insert: Statement
    private let dropPortrait: Statement

    init(_ database: borrowing Database) {
        saveUpload = database.prepare(
            """
            INSERT OR REPLACE INTO uploads (\(Self.uploadColumns))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            """)
        dropUpload = database.prepare("DELETE FROM uploads WHERE id = ?1")
        insert = database.prepare(
            """
            INSERT INTO images (\(Self.columns))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """)
        dropPortrait = database.prepare("DELETE FROM images WHERE a = ?1 AND b = -1")
    }

    func save(_ state: UploadState) throws(SQLiteFailure) {
        saveUpload.bind([state.id, state.uid.number, state.conversation.a, state.conversation.b])
        saveUpload.bind(5, state.target)
        saveUpload.bind(6, Int64(state.type.rawValue))
        saveUpload.bind(7, state.size)
        saveUpload.bind(8, state.hash)
        saveUpload.bind(9, state.name)
        saveUpload.bind(10, state.reference)
        saveUpload.bind(11, state.caption)
        saveUpload.bind(12, state.tags)
        try saveUpload.run()
    }

    func drop(_ upload: Int64) throws(SQLiteFailure) { try dropUpload.run(upload) }

    /// An identity has one portrait: the one before goes.
    func add(_ image: ImageState) throws(SQLiteFailure) {
        if image.conversation.isPortrait { try dropPortrait(image.uid) }
        insert.bind([
            image.id, image.uid.number, image.conversation.a, image.conversation.b, image.position, image.time,
        ])
        insert.bind(7, image.hash)
        insert.bind(8, Int64(image.type.rawValue))
        insert.bind(9, image.size)
        insert.bind(10, image.width)
        insert.bind(11, image.height)
        insert.bind(12, image.name)
        insert.bind(13, image.reference)
        try insert.run()
    }

    func dropPortrait(_ uid: UID) throws(SQLiteFailure) { try dropPortrait.run(uid.number) }
}

/// Answers of the reader about pictures.
struct ImageQueries: ~Copyable, Sendable {
    private let byID: Statement
    private let byReference: Statement
    private let byPlace: Statement
    private let byAuthor: Statement
    private let total: Statement

    init(_ database: borrowing Database) {
        // The message's text is where the message is: moved to its conversation, or in the log still.
        let select = """
            SELECT \(ImageStatements.columns), coalesce(
                (SELECT text FROM messages AS m
                    WHERE m.a = i.a AND m.b = i.b AND m.event = 0 AND m.position = i.position),
                (SELECT text FROM log AS l WHERE l.position = i.position), '')
            FROM images AS i
            """
        byID = database.prepare("\(select) WHERE id = ?1")
        byReference = database.prepare("\(select) WHERE uid = ?1 AND reference = ?2 AND reference != ''")
        byPlace = database.prepare(
            """
            \(select) WHERE a = ?1 AND b = ?2 AND position < ?3 AND position >= ?4
            ORDER BY position DESC LIMIT ?5
            """)
        byAuthor = database.prepare("SELECT coalesce(sum(size), 0) FROM images WHERE uid = ?1 AND time > ?2")
        total = database.prepare("SELECT bytes FROM image_total")
    }

    func answer(_ question: ImageQuestion) throws(SQLiteFailure) -> ImageAnswer {
        var answer = ImageAnswer(number: question.number)
        switch question.wanted {
        case .image(let id):
            byID.bind([id])
            answer.images = try rows(byID)
        case .list(let conversation, let before, let oldest):
            byPlace.bind([conversation.a, conversation.b, before, oldest, Int64(question.limit) + 1])
            let found = try rows(byPlace)
            answer.images = Array(found.prefix(question.limit))
            answer.isComplete = found.count <= question.limit
        case .allowance(let uid, let reference, let since):
            if !reference.isEmpty {
                byReference.bind([uid.number])
                byReference.bind(2, reference)
                answer.images = try rows(byReference)
            }
            byAuthor.bind([uid.number, since])
            answer.storedByIdentity = try number(byAuthor)
            answer.storedByServer = try number(total)
        }
        return answer
    }

    private func number(_ statement: borrowing Statement) throws(SQLiteFailure) -> Int64 {
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }

    private func rows(_ statement: borrowing Statement) throws(SQLiteFailure) -> [ImageState] {
        defer { statement.reset() }
        var images: [ImageState] = []
        while try statement.step() {
            guard let type = UInt8(exactly: statement.integer(7)).flatMap(ImageType.init) else {
                throw .finding("picture of unknown type \(statement.integer(7))")
            }
            var image = ImageState(
                id: statement.integer(0), uid: UID(number: statement.integer(1)),
                conversation: Conversation(a: statement.integer(2), b: statement.integer(3)), type: type,
                name: statement.bytes(11), reference: statement.bytes(12))
            image.position = statement.integer(4)
            image.time = statement.integer(5)
            image.hash = statement.bytes(6)
            image.size = statement.integer(8)
            image.width = statement.integer(9)
            image.height = statement.integer(10)
            image.text = statement.bytes(13)
            images.append(image)
        }
        return images
    }
}
