package enum Log {
    package enum Level: String, Sendable, CaseIterable { case error, warn, info, debug }
    package enum Format: String, Sendable, CaseIterable { case text, json }
}
