import Bytes
import Wire

extension World {
    private static let expiryInterval: Int64 = 3_600_000
    private static let dropsAtOnce = 50

    /// Drops channels that nobody was in for the configured time, with their history: whoever makes one again sees
    /// nothing of the former users. A few at a time, so that nobody waits.
    mutating func expireChannels() {
        nextExpiry = now.wall + World.expiryInterval
        if settings.channelExpiry == 0 || isStoreFailing { return }
        let oldest = (now.wall - settings.channelExpiry) / 1000
        var left = World.dropsAtOnce
        for id in channels.ids where channels[id].members.isEmpty && channels[id].state.used < oldest {
            if left == 0 {
                nextExpiry = now.wall + 1_000
                return
            }
            left -= 1
            let state = channels[id].state
            channelNames[NameKey(state.name)] = nil
            channels.remove(id)
            watch.noteGone(state.id, now: now.steady)
            save(.dropChannel(id: state.id))
            note(.info, "\(state.name) was unused and is dropped")
        }
    }
}
