import Bytes
import Wire

/// The list of public channels on its way to somebody, a piece whenever the connection has taken the one before: ten
/// thousand channels are more than a send queue may hold.
struct ChannelListing {
    static let piece = 16 << 10

    let session: ConnectionID
    /// The last one first.
    var rest: [ChannelID] = []
    /// The ids of `rest`.
    var untold: Set<Int64> = []
    /// Of the batch; empty: it is in none.
    var reference: ByteString = ""
}

extension World {
    /// The label, which a list that comes in pieces cannot end with, stands on its batch.
    mutating func begin(_ listing: ChannelListing) {
        var listing = listing
        let session = listing.session
        let label = deferLabel(session)
        if !label.isEmpty { response = Response() }
        if capabilities[Int(session.index)].contains(.batch) {
            listing.reference = nextReference()
            let tag: ByteString = label.isEmpty ? "" : "@label=\(label) "
            sendRaw(session, "\(tag):\(settings.serverName) BATCH +\(listing.reference) parley.chat/channels")
        }
        watch.listings[session.index] = listing
        goOnListing(session)
    }

    /// The connection has room.
    mutating func goOnListing(_ session: ConnectionID) {
        guard var listing = watch.listings[session.index], listing.session == session else { return }
        let tag: ByteString = listing.reference.isEmpty ? "" : "@batch=\(listing.reference) "
        var bytes = 0
        while bytes < ChannelListing.piece, let channel = listing.rest.popLast() {
            guard channels.contains(channel) else { continue }
            listing.untold.remove(channels[channel].state.id)
            guard let entry = publicEntry(channel) else { continue }
            let line: ByteString = "\(tag):\(settings.serverName) CHANNELS ADD \(entry)"
            bytes += line.count
            sendRaw(session, line)
        }
        if !listing.rest.isEmpty {
            watch.listings[session.index] = listing
            return
        }
        watch.listings[session.index] = nil
        endOfChannels(session, "That is all for now; changes follow until CHANNELS UNSUB", tag)
        if !listing.reference.isEmpty { tell(session, "BATCH -\(listing.reference)") }
        if let reason = sessions[session].leaving, !isReceiving(session) {
            return close(session, reason: reason, error: reason)
        }
        endInputIfOver(session)
    }
}
