import Foundation
import Testing

private let releaseBinary = ProcessInfo.processInfo.environment["PARLEY_BIN"].flatMap { $0.isEmpty ? nil : $0 }

/// The release binary, when `make test` has built one (`PARLEY_BIN`).
@Suite(.enabled(if: releaseBinary != nil, "PARLEY_BIN names the release binary"))
struct BinaryTests {
    private func output(_ tool: String, _ arguments: String...) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/\(tool)")
        process.arguments = arguments + [try #require(releaseBinary)]
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: data, as: UTF8.self)
    }

    @Test("It loads no Swift library: the standard library is inside, Foundation is not there at all")
    func libraries() throws {
        let needed = try output("readelf", "-dW").split(separator: "\n").filter { $0.contains("(NEEDED)") }
        #expect(!needed.isEmpty)
        for library in ["libFoundation", "lib_Foundation", "libswift", "libdispatch", "libBlocksRuntime"] {
            #expect(!needed.contains { $0.contains(library) }, "\(library)")
        }
    }

    @Test("No Foundation is linked into it")
    func symbols() throws {
        // Mangled names of the module begin with its length; Objective-C style names are CoreFoundation's.
        let strings = try output("strings", "-n", "8")
        for symbol in [
            "10Foundation", "20FoundationEssentials", "_NSGetExecutablePath", "CFStringCreate", "u_charsToUChars",
        ] {
            #expect(!strings.contains(symbol), "\(symbol)")
        }
    }
}
