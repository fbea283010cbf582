import Bytes
import Wire

extension World {
    /// 332 and 333, when there is a topic.
    mutating func tellTopic(_ channel: ChannelID, to session: ConnectionID) {
        let state = channels[channel].state
        if state.topic.isEmpty { return }
        reply(to: session, .RPL_TOPIC, "\(state.name) :\(state.topic)")
        reply(to: session, .RPL_TOPICWHOTIME, "\(state.name) \(state.topicSetter) \(state.topicTime)")
    }
}
