import Testing

/// Who may know whom: the table of ARCHITECTURE.md, in code.
@Suite struct ImportTests {
    /// What each room may import besides the standard library's own modules.
    static let arrows: [String: Set<String>] = [
        "Bytes": [],
        "Wire": ["Bytes"],
        "Chat": ["Wire", "Bytes"],
        "Images": ["Bytes"],
        "Net": ["Bytes", "CSystem", "COpenSSL"],
        "Store": ["Chat", "Wire", "Bytes", "CSQLite", "CSystem"],
        "Server": [
            "Store", "Net", "Chat", "Images", "Wire", "Bytes", "CSystem", "COpenSSL", "CTOML", "CArgon2", "CICU",
        ],
        "parley": ["Server"],
        "TestKit": ["Net", "Chat", "Images", "Wire", "Bytes", "CSystem", "Foundation"],
        "CSystem": [], "COpenSSL": [], "CSQLite": [], "CArgon2": [], "CTOML": [], "CICU": [],
    ]

    /// The standard library's modules, by room: the pure rooms see no system.
    static let system: [String: Set<String>] = [
        "Bytes": ["Glibc"], "Wire": [], "Chat": [], "Images": [], "Net": ["Glibc", "Synchronization"],
        "Store": ["Glibc", "Synchronization"],
        "Server": ["Glibc", "Synchronization"], "parley": ["Glibc"], "TestKit": ["Glibc", "Synchronization"],
    ]

    @Test("Every room is in the table, and the table has no other")
    func everyRoomIsListed() throws {
        #expect(try Repository.rooms() == Self.arrows.keys.sorted())
    }

    @Test("A room imports what its arrows allow and nothing else", arguments: arrows.keys.sorted())
    func imports(room: String) throws {
        let allowed = Self.arrows[room, default: []].union(Self.system[room, default: []])
        for file in try Repository.sources.get() where file.path.hasPrefix("Sources/\(room)/") {
            for (number, line) in file.lines.enumerated() where line.contains("import ") {
                guard let match = line.firstMatch(of: /^(?:[@\w()]+ )*import (?:\w+ )?(\w+)/) else { continue }
                #expect(allowed.contains(String(match.1)), "\(file):\(number + 1): \(line)")
            }
        }
    }

    @Test("Package.swift draws the same arrows", arguments: arrows.keys.sorted())
    func packageAgrees(room: String) throws {
        let package = try Repository.text("Package.swift")
        let targets = package.split(separator: /\.(?:executableTarget|systemLibrary|target)\(/).dropFirst()
        let target = try #require(targets.first { $0.contains("name: \"\(room)\"") })
        let listed = target.firstMatch(of: /dependencies: \[([^\]]*)\]/)?.1 ?? ""
        let dependencies = Set(listed.matches(of: /"(\w+)"/).map { String($0.1) })
        let drawn = Self.arrows[room, default: []].intersection(Self.arrows.keys)
        #expect(dependencies.isSubset(of: drawn), "\(room) \(dependencies)")
    }

    @Test("No clock, no chance, no threads in the core", arguments: ["Wire", "Chat"])
    func coreTouchesNothing(room: String) throws {
        let forbidden = [
            "SystemRandomNumberGenerator", "ContinuousClock", "SuspendingClock", " async ", "await ", "Task {", "Task.",
            "clock_gettime", "pthread_", "Mutex", "Lock(",
        ]
        for file in try Repository.sources.get() where file.path.hasPrefix("Sources/\(room)/") {
            for (number, line) in file.lines.enumerated() where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                for word in forbidden where line.contains(word) {
                    Issue.record("\(file):\(number + 1): \(word)")
                }
            }
        }
    }
}
