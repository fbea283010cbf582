import Bytes
import Wire

/// The token groups of 005, one for each line (Modern IRC, RPL_ISUPPORT).
func supportedTokens(_ settings: Settings) -> [ByteString] {
    // `:server 005 nick <tokens> :are supported by this server`
    let overhead = settings.serverName.count + settings.limits.nickLength + 41
    return ISupport.groups(nameTokens(settings) + channelTokens(settings) + featureTokens(settings), overhead: overhead)
}

private func nameTokens(_ settings: Settings) -> [ByteString] {
    let limits = settings.limits
    return [
        "NETWORK=\(settings.network.withView { ISupport.escape($0) })", "CASEMAPPING=ascii", "UTF8ONLY",
        "NICKLEN=\(limits.nickLength)", "USERLEN=\(Names.userLength)", "NAMELEN=\(limits.realnameLength)",
        "AWAYLEN=\(limits.awayLength)", "LINELEN=\(LineLimits.message)", "BOT=B",
    ]
}

private func channelTokens(_ settings: Settings) -> [ByteString] {
    let limits = settings.limits
    return [
        "CHANTYPES=#", "CHANNELLEN=\(limits.channelLength)", "CHANLIMIT=#:\(limits.channelsPerUser)",
        "PREFIX=\(ChannelModes.prefix)", "STATUSMSG=\(ByteString(Ranks.ladder.map(\.prefix)))",
        "CHANMODES=\(ChannelModes.chanModes)",
        "MODES=\(limits.modes)",
        "MAXLIST=Ibe:\(limits.listEntries)", "EXCEPTS=e", "INVEX=I", "EXTBAN=,amu", "ACCOUNTEXTBAN=a",
        "TOPICLEN=\(limits.topicLength)", "KICKLEN=\(limits.kickLength)", "KEYLEN=\(limits.keyLength)",
    ]
}

private func featureTokens(_ settings: Settings) -> [ByteString] {
    let most = settings.limits.targets
    // An empty number is no limit but the line's (Modern IRC, TARGMAX).
    let targets: ByteString =
        "JOIN:,KICK:\(most),LIST:,NAMES:,NOTICE:\(most),PART:,PRIVMSG:\(most),TAGMSG:\(most),USERHOST:5,WHOIS:1,WHOWAS:1"
    let monitor: [ByteString] = settings.limits.monitor > 0 ? ["MONITOR=\(settings.limits.monitor)"] : []
    return monitor + [
        "MAXTARGETS=\(most)", "TARGMAX=\(targets)", "ELIST=CMNTU", "SAFELIST", "WHOX",
        "CHATHISTORY=\(settings.page)", "MSGREFTYPES=msgid,timestamp",
        // A sender is slowed by not being read and never closed for its pace.
        "soju.im/SAFERATE",
        // Seconds in which authors may change what they said; 0: always.
        "parley.chat/CHANGE=edit:\(settings.editWindow / 1000),redact:\(settings.redactWindow / 1000)",
    ] + imageTokens(settings.images)
}

/// `max` is for a guest's pictures.
private func imageTokens(_ images: ImageSettings) -> [ByteString] {
    if !images.isEnabled { return [] }
    let types = wrap(images.types.map(\.name), width: .max, separator: 0x7C)[0]
    let sizes: ByteString = "max:\(images.guestSize),max-account:\(images.accountSize)"
    return ["parley.chat/IMG=\(sizes),chunk:\(images.chunk),window:\(images.window),types:\(types)"]
}

extension World {
    var userModeLetters: ByteString { "BRTZiow" }
}
