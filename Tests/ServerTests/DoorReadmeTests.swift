import Foundation
import TestKit
import Testing

/// README.md shows nothing that does not work: its blocks marked ```` ```sh run ```` are typed as they stand, one after
/// the other, against a server with no configuration but its ports. A comment `# prints: text` says what must come
/// back.
@Suite struct DoorReadmeTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let command: String
        let prints: [String]
        var testDescription: String { command }
    }

    static let examples: [Example] = {
        let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("README.md")
        let text = (try? String(contentsOf: readme, encoding: .utf8)) ?? ""
        return text.matches(of: /```sh run\n([\s\S]*?)```/).map { match in
            let lines = match.1.split(separator: "\n")
            let comments = lines.filter { $0.hasPrefix("# prints: ") }
            return Example(
                command: lines.filter { !$0.hasPrefix("#") }.joined(separator: "\n"),
                prints: comments.map { String($0.dropFirst("# prints: ".count)) })
        }
    }()

    @Test("README.md has examples to run")
    func hasExamples() { #expect(Self.examples.count >= 5) }

    @Test("Everything README.md shows works as it stands")
    func examplesWork() throws {
        let server = try ServerProcess(ServerConfiguration(.plain, .tls))
        for example in Self.examples {
            let command = example.command.replacing("localhost 6667", with: "localhost \(server.port(0))")
                .replacing("localhost:6697", with: "localhost:\(server.port(1))")
                .replacing("localhost 6697", with: "localhost \(server.port(1))")
                .replacing("parley ", with: "\(ServerProcess.binary) ")
            let run = try Pipeline.run(command, directory: server.directory)
            #expect(run.status == 0, "\(example.command)\n\(run.output)")
            for text in example.prints { #expect(run.output.contains(text), "\(example.command)\n\(run.output)") }
        }
    }
}
