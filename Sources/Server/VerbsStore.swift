import Net
import Store

/// `parley check-store`: 0 when everything that the database names is there, and nothing else.
func runCheckStore(_ file: String?) -> Int32 {
    guard let loaded = loadOrComplain(file) else { return Exit.failure }
    let path = Places(loaded.configuration, .process).database
    do {
        let problems = try StoreCheck.run(path: path) { Crypto.sha256($0) }
        if problems.isEmpty { return Output.print("\(path): fine\n") }
        for problem in problems { Output.error("\(problem)\n") }
    } catch {
        Output.error("\(error)\n")
    }
    return Exit.failure
}
