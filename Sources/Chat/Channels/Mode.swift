import Bytes
import Wire

let modeCommand = Command(
    "MODE", minimum: 1, source: "Modern IRC, MODE",
    help: [
        "MODE <#channel> [+|-<letters> [parameters]]  or  MODE <your nick> [+|-<letters>]",
        "Shows or changes modes. n only members speak, t ops set the topic, m only ranks speak, i invited only,",
        "s secret, k <key>, l <members>, f <lines:seconds>, C no CTCP, R accounts only, M accounts speak, H no history,",
        "U ops alone hear who has no rank;",
        "lists b ban, e exception, I invited, of masks nick!user@host, a:account, u:uid, m:mask (mute);",
        "ranks q owner, o op, h halfop, v voice, with a nick.", "Example: MODE #lobby +o ana",
    ]
) { world, turn in
    if turn[0].first == 0x23 { world.channelMode(turn) } else { world.changeUserModes(turn) }
}

/// One MODE of a channel under way: what was asked is weighed change by change, what took effect is told at the end.
struct ModeWork {
    let turn: Turn
    let channel: ChannelID
    var applied: [AppliedMode] = []
    /// The channel's row must be written.
    var isStateChanged = false
    /// 442, 482 or the store's refusal was told; once is enough.
    var isRefused = false

    mutating func apply(_ change: ModeChange, _ parameter: ByteString? = nil) {
        applied.append(AppliedMode(adding: change.adding, letter: change.letter, parameter: parameter))
    }
}

extension World {
    fileprivate mutating func channelMode(_ turn: Turn) {
        guard let channel = knownChannel(turn, turn[0]) else { return }
        guard let modes = turn.parameter(1), !modes.isEmpty else { return tellModes(of: channel, turn) }
        let parsed = ModeParser.parse(
            modes, parameters: { turn.parameter($0 + 2) }, kinds: { ChannelModes.row($0)?.kind })
        var work = ModeWork(turn: turn, channel: channel)
        for mode in parsed {
            switch mode {
            case .unknown(let letter): refuseMode(turn, letter)
            case .listQuery(let letter): tellList(letter, of: channel, turn)
            case .missingParameter(let letter, let adding): changeWithout(letter, adding, &work)
            case .change(let change): changeMode(change, &work)
            }
        }
        tellChanges(work)
    }

    /// 324 and 329. The key is for members.
    private mutating func tellModes(of channel: ChannelID, _ turn: Turn) {
        let state = channels[channel].state
        var letters = state.modes
        var parameters: ByteString = ""
        func add(_ letter: StaticString, _ parameter: ByteString) {
            letters = "\(letters)\(letter)"
            parameters = "\(parameters) \(parameter)"
        }
        if !state.key.isEmpty { add("k", may(turn.me, know: .key, of: channel) ? state.key : "*") }
        if state.limit > 0 { add("l", "\(state.limit)") }
        if !state.flood.isEmpty { add("f", state.flood) }
        reply(turn, .RPL_CHANNELMODEIS, "\(state.name) +\(letters)\(parameters)")
        reply(turn, .RPL_CREATIONTIME, "\(state.name) \(state.created)")
    }

    private mutating func refuseMode(_ turn: Turn, _ letter: UInt8) {
        // A letter beyond ASCII comes byte by byte; it is one letter, and its bytes alone are no text.
        if letter & 0xC0 == 0x80 { return }
        let shown: ByteString = letter > 0x20 && letter < 0x7F && letter != 0x3A ? "\(byte: letter)" : "*"
        let hint: ByteString = sessions[turn.session].isPlain ? "; HELP MODE lists them" : ""
        reply(turn, .ERR_UNKNOWNMODE, "\(shown) :is unknown mode char to me\(hint)")
    }

    private mutating func changeWithout(_ letter: UInt8, _ adding: Bool, _ work: inout ModeWork) {
        let change = ModeChange(adding: adding, letter: letter, parameter: nil)
        // Clients leave the key away when they take it off.
        if letter == UInt8(ascii: "k"), !adding { return changeMode(change, &work) }
        guard mayChange(change, &work) else { return }
        refuseParameter(change, work, "This mode needs a parameter")
    }

    /// 696 (Modern IRC, ERR_INVALIDMODEPARAM). A key is never told back.
    mutating func refuseParameter(_ change: ModeChange, _ work: ModeWork, _ why: ByteString) {
        let isKey = change.letter == UInt8(ascii: "k")
        let shown = isKey ? "*" : change.parameter.map { Message.isMiddle($0) ? self.shown($0) : "*" } ?? "*"
        reply(
            work.turn, .ERR_INVALIDMODEPARAM,
            "\(channels[work.channel].name) \(byte: change.letter) \(shown) :\(why)")
    }

    /// One line for the changes that took effect, more only where they do not fit (MODES=, 512 bytes). The log has them
    /// without the key.
    private mutating func tellChanges(_ work: ModeWork) {
        if work.applied.isEmpty { return }
        let user = work.turn.me
        let name = channels[work.channel].name
        if work.isStateChanged {
            save(.saveChannel(channels[work.channel].state))
            noteListed(work.channel)
        }
        let room = LineLimits.message - users[user].source.count - name.count - 10
        let lines = ModeFormatter.lines(work.applied, maxBytes: room, maxParameters: settings.limits.modes)
        let logged = ModeFormatter.lines(
            work.applied.map { $0.letter == UInt8(ascii: "k") ? $0.withoutKey : $0 }, maxBytes: room,
            maxParameters: settings.limits.modes)
        for (i, text) in lines.enumerated() {
            var line = outgoing(from: user, "MODE \(name) \(text)")
            // A key left out makes a line shorter, so there may be fewer to log.
            if i < logged.count {
                (line.position, line.time) = record(.mode, by: user, in: work.channel, logged[i])
            }
            relay(line, to: work.channel)
        }
    }
}

extension AppliedMode {
    fileprivate var withoutKey: AppliedMode { AppliedMode(adding: adding, letter: letter, parameter: "*") }
}
