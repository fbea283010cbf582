import Foundation

/// The repository as the tidy rules read it.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct File: Sendable, CustomStringConvertible {
        /// Relative to the root.
        let path: String
        let lines: [String]

        init(path: String, text: String) {
            self.path = path
            // By bytes: Swift's characters are too slow for a whole repository.
            lines = text.utf8.split(separator: 0x0a, omittingEmptySubsequences: false).map { String($0) ?? "" }
        }

        var description: String { path }
    }

    /// All of ours that is compiled.
    static let sources = Result {
        try files(below: "Sources", ["swift", "h", "cpp"]) + files(below: "Tests", ["swift"])
    }

    private static func files(below folder: String, _ extensions: Set<String>) throws -> [File] {
        let base = root.appendingPathComponent(folder)
        guard let all = FileManager.default.enumerator(atPath: base.path) else { return [] }
        var files: [File] = []
        for case let name as String in all where extensions.contains((name as NSString).pathExtension) {
            let text = try String(contentsOf: base.appendingPathComponent(name), encoding: .utf8)
            files.append(File(path: "\(folder)/\(name)", text: text))
        }
        return files.sorted { $0.path < $1.path }
    }

    static func rooms() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Sources").path).sorted()
    }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}

/// A function as far as its text shows: from its first line to the line that closes it at the same indentation. Good
/// enough for code that `swift format` has laid out.
struct FunctionText {
    let name: String
    let line: Int
    let count: Int

    static func all(in file: Repository.File) -> [FunctionText] {
        let lines = file.lines
        var functions: [FunctionText] = []
        for (index, line) in lines.enumerated() {
            guard line.contains("func ") || line.contains("init") || line.contains("subscript") else { continue }
            guard let match = line.firstMatch(of: /^( *)(?:[@\w()]+ )*(func [\w`]+|init|deinit|subscript)\b/) else {
                continue
            }
            let end = "\(match.1)}"
            guard let last = lines[index...].firstIndex(where: { $0 == end || $0.hasPrefix(end + " ") }) else {
                continue
            }
            // A declaration without a body, or with its body on one line, has no brace of its own further down.
            let next = lines[(index + 1)...].firstIndex { $0.hasPrefix("\(match.1)") && !$0.hasPrefix("\(match.1) ") }
            guard next == last || next.map({ lines[$0].hasPrefix("\(match.1))") }) == true else { continue }
            functions.append(FunctionText(name: String(match.2), line: index + 1, count: last - index + 1))
        }
        return functions
    }
}
