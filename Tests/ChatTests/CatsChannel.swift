import Bytes
import Chat
import TestKit
import Testing

/// What the tests of messages that are changed, repeated or receipted begin with.
extension WorldScript {
    /// ana founded #cats, bo is in it; each with its capabilities.
    static func cats(
        _ anas: String, _ bos: String, _ change: (inout Settings) -> Void = { _ in }
    ) -> (WorldScript, ScriptClient, ScriptClient) {
        let script = WorldScript(change)
        let ana = script.client("ana", capabilities: anas)
        let bo = script.client("bo", capabilities: bos)
        for client in [ana, bo] { _ = client.ask("JOIN #cats") }
        _ = ana.read()
        return (script, ana, bo)
    }

    /// Of who did something last under this nick.
    func uid(of nick: String) throws -> String {
        try #require(log.last { $0.source.string.hasPrefix("\(nick)!") }?.uid.text.string)
    }
}

/// The id that the echo tells.
func say(_ client: ScriptClient, _ text: String, to target: String = "#cats") throws -> String {
    try #require(client.ask("PRIVMSG \(target) :\(text)").first?.messageID)
}
