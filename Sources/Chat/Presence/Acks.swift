import Bytes
import Wire

let acksCommand = Command(
    "ACKS", source: "docs/PROTOCOL.md, Sent, delivered, read",
    help: [
        "ACKS [on|off]", "Whether each message you send is confirmed with its id, once it is stored.",
        "Example: ACKS on",
    ]
) { world, turn in
    let word = turn.parameter(0) ?? .empty
    if word.equalsIgnoringCase("on") {
        world.sessions[turn.session].wantsAcks = true
    } else if word.equalsIgnoringCase("off") {
        world.sessions[turn.session].wantsAcks = false
    } else if !word.isEmpty {
        return world.fail(turn, "INVALID_PARAMS", "Type ACKS on or ACKS off", about: [world.shown(word, atMost: 32)])
    }
    let isOn = world.sessions[turn.session].wantsAcks
    world.tell(
        turn.session,
        isOn
            ? "NOTE ACKS ON :What you send is confirmed with NOTE ACKS SENT <msgid>"
            : "NOTE ACKS OFF :What you send is not confirmed")
}
