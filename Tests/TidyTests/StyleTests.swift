import Testing

/// Sizes and small manners, where the formatter does not look.
@Suite struct StyleTests {
    static let longestLine = 120
    static let longestFunction = 60
    static let longestFile = 500

    /// What may be longer, each with its reason.
    static let longFunctions = [
        "Tests/ServerTests/ConfigurationTests.swift func everyKeyReadsItsValue": "one line for every key there is"
    ]
    static let longFiles: [String: String] = [:]

    @Test("No line of code is over 120 columns; a line of text that is all of a string may be")
    func lineLength() throws {
        for file in try Repository.sources.get() {
            var isText = false
            for (number, line) in file.lines.enumerated() {
                if line.contains("\"\"\"") { isText.toggle() }
                guard line.utf8.count > Self.longestLine, line.count > Self.longestLine else { continue }
                guard !isText, line.first(where: { $0 != " " }) != "\"" else { continue }
                Issue.record("\(file):\(number + 1): \(line.count) columns")
            }
        }
    }

    @Test("No function passes 60 lines unless the list says why")
    func functionSize() throws {
        for file in try Repository.sources.get() where file.path.hasSuffix(".swift") {
            for function in FunctionText.all(in: file) where function.count > Self.longestFunction {
                let key = "\(file) \(function.name)"
                #expect(
                    Self.longFunctions[key] != nil,
                    "\(file):\(function.line): \(function.name) has \(function.count) lines")
            }
        }
    }

    @Test("No file passes 500 lines unless the list says why")
    func fileSize() throws {
        for file in try Repository.sources.get() where file.lines.count > Self.longestFile {
            #expect(Self.longFiles[file.path] != nil, "\(file): \(file.lines.count) lines")
        }
    }

    @Test("Nothing on the lists that is no longer long")
    func listsAreTrue() throws {
        let files = try Repository.sources.get()
        for path in Self.longFiles.keys {
            #expect(files.contains { $0.path == path && $0.lines.count > Self.longestFile }, "\(path)")
        }
        let functions = Set(
            files.flatMap { file in
                FunctionText.all(in: file).filter { $0.count > Self.longestFunction }.map { "\(file) \($0.name)" }
            })
        #expect(Set(Self.longFunctions.keys).subtracting(functions) == [])
    }

    @Test("No TODO stands without a reason: `TODO: what, because why`")
    func todos() throws {
        let marks = ["TODO", "FIXME"]
        for file in try Repository.sources.get() where !file.path.contains("TidyTests") {
            for (number, line) in file.lines.enumerated()
            where marks.contains(where: { line.contains($0) }) {
                #expect(line.contains(/(TODO|FIXME): .+ because .+/), "\(file):\(number + 1)")
            }
        }
    }

    @Test("Escapes from the compiler's proofs say why they are right")
    func escapes() throws {
        let escapes = ["@unchecked Sendable", "nonisolated(unsafe)", "try!", "fatalError("]
        for file in try Repository.sources.get() where file.path.hasPrefix("Sources") {
            let lines = file.lines
            for (number, line) in lines.enumerated() {
                let code = line.prefix { $0 != "/" }
                guard escapes.contains(where: { code.contains($0) }) else { continue }
                let near = lines[max(0, number - 4)...number]
                #expect(near.contains { $0.contains("//") }, "\(file):\(number + 1): \(line)")
            }
        }
    }

    @Test("The function finder finds long functions")
    func finder() {
        let body = String(repeating: "        step()\n", count: 70)
        let file = Repository.File(
            path: "x.swift",
            text:
                "struct S {\n    package func long(\n        a: Int\n    ) {\n\(body)    }\n\n    func short() { 1 }\n}\n"
        )
        #expect(FunctionText.all(in: file).map(\.name) == ["func long"])
        #expect(FunctionText.all(in: file).map(\.count) == [74])
    }
}
