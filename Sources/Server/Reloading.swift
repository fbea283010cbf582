import Chat
import Net

/// SIGHUP and REHASH: the configuration, the message of the day and the certificate are read again; what is wrong is
/// told and the old stays; nobody is dropped.
struct Reloading: Sendable {
    let file: String?
    /// Milliseconds since 1970.
    let started: Int64
    let places: Places
    let environment: Environment

    func load(_ log: Log) -> Settings? {
        do {
            let loaded = try Configuration.load(path: file)
            for warning in loaded.warnings { log.warn("configuration", ["problem": .text("\(warning)")]) }
            let configuration = loaded.configuration
            let now = Places(configuration, environment)
            if now != places {
                log.warn("reload.partly", ["reason": "names and places of files change at the next start only"])
            }
            log.apply(configuration.log)
            guard let motd = motd(configuration, log) else { return nil }
            return Settings(configuration, serverName: places.serverName, motd: motd, started: started)
        } catch {
            for problem in error.problems { log.error("reload.refused", ["problem": .text("\(problem)")]) }
            return nil
        }
    }

    func motd(_ configuration: Configuration, _ log: Log) -> Motd? {
        do {
            return try Motd.load(configuration, serverName: places.serverName)
        } catch {
            log.warn("motd.refused", ["reason": .text("\(error)")])
            return nil
        }
    }

    /// For a start with a message of the day that cannot be read: people are greeted all the same.
    func builtInMotd(_ configuration: Configuration) -> Motd {
        Motd(text: Motd.builtIn, server: places.serverName, network: configuration.server.network)
    }

    /// nil: there is none, or the new one is unusable and the old stays.
    func tls(_ log: Log) -> TLSContext? {
        guard Files.exists(places.certificate) else { return nil }
        do {
            return try TLSContext(certificateFile: places.certificate, keyFile: places.key)
        } catch {
            log.error("certificate.refused", ["reason": .text("\(error)")])
            return nil
        }
    }
}
