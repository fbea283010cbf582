import Bytes

/// One thing that is wrong, or doubtful, in a configuration file: `parley.toml:12:5: server.nmae: unknown key`.
package struct ConfigurationProblem: Sendable, Equatable, CustomStringConvertible {
    package let file: String
    /// 0: the file as a whole.
    package let line: Int
    package let column: Int
    /// `limits.nick-length`, `listen[2].port`; empty: no single key.
    package let key: String
    package let text: String

    package var description: String {
        [file, line > 0 ? ":\(line):\(column)" : "", ": ", key, key.isEmpty ? "" : ": ", text].joined()
    }
}

/// Every problem of the file, in the file's order.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    package let problems: [ConfigurationProblem]

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension Configuration {
    package struct Loaded: Sendable {
        package let configuration: Configuration
        /// To be told; none of them keeps the server from starting.
        package let warnings: [ConfigurationProblem]
    }

    /// Bytes; what is longer is no configuration.
    private static let longestFile = 1 << 20

    /// nil: the defaults.
    package static func load(path: String?) throws(ConfigurationError) -> Loaded {
        guard let path else { return Loaded(configuration: Configuration(), warnings: []) }
        let bytes: [UInt8]
        do {
            bytes = try Files.read(path, limit: longestFile)
        } catch {
            let problem = ConfigurationProblem(
                file: path, line: 0, column: 0, key: "", text: "cannot be read: \(error.reason)")
            throw ConfigurationError(problems: [problem])
        }
        return try load(bytes: bytes, file: path)
    }

    /// `file` is the name for the problems.
    package static func load(text: String, file: String) throws(ConfigurationError) -> Loaded {
        try load(bytes: Array(text.utf8), file: file)
    }

    private static func load(bytes: [UInt8], file: String) throws(ConfigurationError) -> Loaded {
        let root: TOML.Node
        do {
            root = try TOML.parse(bytes)
        } catch {
            let text = String(error.message.map { $0.isNewline ? " " : $0 })
            let problem = ConfigurationProblem(
                file: file, line: error.place.line, column: error.place.column, key: "", text: text)
            throw ConfigurationError(problems: [problem])
        }
        var reader = ConfigurationReader(file: file)
        reader.read(root)
        guard reader.problems.isEmpty else { throw ConfigurationError(problems: reader.inOrder(reader.problems)) }
        return Loaded(configuration: reader.configuration, warnings: reader.inOrder(reader.warnings))
    }
}
