/// `parley check-config`: 0 when the server would start with the file.
func runCheckConfig(_ file: String?) -> Int32 {
    guard let loaded = loadOrComplain(file) else { return Exit.failure }
    let name = file ?? "no file"
    let places = Places(loaded.configuration, .process)
    let unreadable = complaintsAboutFiles(loaded.configuration, places)
    for complaint in unreadable { Output.error("\(name): \(complaint)\n") }
    guard unreadable.isEmpty else { return Exit.failure }
    let count = loaded.configuration.listeners.count
    return Output.print(
        "\(name): fine; \(places.serverName), \(count) listener\(count == 1 ? "" : "s"), database \(places.database)\n")
}

/// The files that a configuration names are there.
private func complaintsAboutFiles(_ configuration: Configuration, _ places: Places) -> [String] {
    var complaints: [String] = []
    do {
        _ = try Motd.load(configuration, serverName: places.serverName)
    } catch {
        complaints.append("server.motd: \(error)")
    }
    if places.makesCertificate { return complaints }
    for (key, path) in [("tls.certificate", places.certificate), ("tls.key", places.key)] {
        do {
            _ = try Files.read(path, limit: 1 << 20)
        } catch {
            complaints.append("\(key): \(path): \(error.reason)")
        }
    }
    return complaints
}

/// `parley serve`.
func runServe(_ file: String?) -> Int32 {
    guard let loaded = loadOrComplain(file) else { return Exit.failure }
    return serve(loaded.configuration, file: file, .process)
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
