import Bytes
import Wire

let isupportCommand = Command(
    "ISUPPORT", access: .visitor, early: .extendedISupport, source: "IRCv3 extended-isupport",
    help: ["ISUPPORT", "What this server supports, for clients: limits, modes, extensions.", "Example: ISUPPORT"]
) { world, turn in world.sendISupport(turn.session) }

extension World {
    /// The 005 lines, as a batch for who knows it (IRCv3 extended-isupport).
    mutating func sendISupport(_ session: ConnectionID) {
        let text: ByteString = ":are supported by this server"
        guard capabilities[Int(session.index)].isSuperset(of: [.batch, .extendedISupport]) else {
            for tokens in isupport { reply(to: session, .RPL_ISUPPORT, "\(tokens) \(text)") }
            return
        }
        let reference = nextReference()
        tell(session, "BATCH +\(reference) draft/isupport")
        for tokens in isupport {
            sendRaw(
                session,
                "@batch=\(reference) :\(settings.serverName) 005 \(nickShown(to: session)) \(tokens) \(text)")
        }
        tell(session, "BATCH -\(reference)")
    }
}
