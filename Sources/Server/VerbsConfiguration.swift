/// `parley check-config`: 0 when the server would start with the file.
func runCheckConfig(_ file: String?) -> Int32 {
    guard let loaded = loadOrComplain(file) else { return Exit.failure }
    let count = loaded.configuration.listeners.count
    let name = file ?? "no file"
    let database = Places(loaded.configuration, .process).database
    return Output.print(
        "\(name): fine; \(count) listener\(count == 1 ? "" : "s"), database \(database)\(file == nil ? " (defaults)" : "")\n"
    )
}

/// `parley serve`.
func runServe(_ file: String?) -> Int32 {
    guard loadOrComplain(file) != nil else { return Exit.failure }
    return Exit.failure
}

/// Every problem and warning is told, one a line.
func loadOrComplain(_ file: String?) -> Configuration.Loaded? {
    do {
        let loaded = try Configuration.load(path: file)
        for warning in loaded.warnings { Output.error("\(warning) (warning)\n") }
        return loaded
    } catch {
        Output.error("\(error)\n")
        return nil
    }
}
