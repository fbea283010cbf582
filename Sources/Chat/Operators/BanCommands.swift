import Bytes
import Wire

let banCommands: [Command] = [
    setting(
        .kline,
        help: [
            "KLINE [duration] <user@host> [:reason]", "Bans from the server who matches; who is here is disconnected.",
            "The host is what everybody sees, the address, or a network (*@192.0.2.0/24). Durations: 30m, 1h, 7d;",
            "a number alone is minutes; none is for good. KLINE alone, or STATS k, lists all.",
            "Example: KLINE 7d *@192.0.2.7 :advertising",
        ]),
    removing("UNKLINE", .kline, help: ["UNKLINE <user@host>", "Removes a KLINE.", "Example: UNKLINE *@192.0.2.7"]),
    setting(
        .dline,
        help: [
            "DLINE [duration] <address or network> [:reason]",
            "Refuses every connection from there at once; those that are open are closed.",
            "Durations are as for KLINE. DLINE alone, or STATS d, lists all.",
            "Example: DLINE 1h 2001:db8::/32 :flooding",
        ]),
    removing(
        "UNDLINE", .dline,
        help: ["UNDLINE <address or network>", "Removes a DLINE.", "Example: UNDLINE 2001:db8::/32"]),
    setting(
        .resv,
        help: [
            "RESV [duration] <nick mask> [:reason]",
            "Reserves nicks: nobody but operators may take one, and who has one is renamed.",
            "Durations are as for KLINE. RESV alone, or STATS q, lists all.", "Example: RESV *bot* :no bots here",
        ]),
    removing("UNRESV", .resv, help: ["UNRESV <nick mask>", "Removes a RESV.", "Example: UNRESV *bot*"]),
    setting(
        .shun,
        help: [
            "SHUN [duration] <user@host> [:reason]",
            "Who matches may stay and read; what they say reaches nobody, and they are told so.",
            "Masks and durations are as for KLINE. SHUN alone, or STATS s, lists all.",
            "Example: SHUN 1h *@192.0.2.7 :cool down",
        ]),
    removing("UNSHUN", .shun, help: ["UNSHUN <user@host>", "Removes a SHUN.", "Example: UNSHUN *@192.0.2.7"]),
]

private func setting(_ kind: ServerBan.Kind, help: [StaticString]) -> Command {
    Command(
        kind.command, access: .operators, privilege: kind.privilege, source: "docs/PROTOCOL.md, Operators", help: help
    ) { world, turn in world.ban(turn, kind) }
}

private func removing(_ name: StaticString, _ kind: ServerBan.Kind, help: [StaticString]) -> Command {
    Command(
        name, minimum: 1, access: .operators, privilege: kind.privilege, source: "docs/PROTOCOL.md, Operators",
        help: help
    ) { world, turn in world.unban(turn, kind) }
}
