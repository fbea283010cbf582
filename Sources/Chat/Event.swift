package import Bytes
import Wire

/// The two clocks, read once per turn at the edge.
package struct Moment: Sendable, Equatable {
    /// Milliseconds since 1970; may jump.
    package var wall: Int64
    /// Milliseconds that never run backwards, for deadlines.
    package var steady: Int64

    package init(wall: Int64, steady: Int64) {
        self.wall = wall
        self.steady = steady
    }
}

/// Who connected, as far as the chat core may know.
package struct Peer: Sendable {
    /// Text form of the address; operators see it.
    package var address: ByteString
    /// What everybody sees: the cloaked address.
    package var host: ByteString
    package var isTLS: Bool
    package var isLoopback: Bool
    /// The operator at the machine itself: came by the console socket.
    package var isConsole: Bool
    /// SHA-256 of the TLS client certificate, in hex; empty: it showed none.
    package var certificate: ByteString
    /// What it counts for where a whole network has its share; 0: it is not counted.
    package var network: UInt64

    package init(
        address: ByteString, host: ByteString, isTLS: Bool, isLoopback: Bool, isConsole: Bool = false,
        certificate: ByteString = "", network: UInt64 = 0
    ) {
        self.address = address
        self.host = host
        self.isTLS = isTLS
        self.isLoopback = isLoopback
        self.isConsole = isConsole
        self.certificate = certificate
        self.network = network
    }
}

package enum PasswordOutcome: Sendable, Equatable { case right, wrong, busy }

/// Everything that can happen to World. Views live for the call only.
package enum Event {
    case connected(ConnectionID, Peer)
    case line(ConnectionID, ByteView)
    /// Part of a line of data that has any length (`World.isPasting`).
    case fragment(ConnectionID, ByteView)
    /// The line was over the limit and is discarded; the view is its beginning.
    case overlong(ConnectionID, ByteView)
    /// A lone 0x04, as a terminal's Ctrl-D.
    case endOfTransmission(ConnectionID)
    /// The peer sends nothing more; everything it sent has been given.
    case inputEnded(ConnectionID)
    /// The connection is gone; the reason is told to the channels.
    case closed(ConnectionID, reason: ByteString)
    case page(HistoryPage)
    case direct(DirectAnswer)
    case sent(SentAnswer)
    case receipts(ReceiptsAnswer)
    case identity(IdentityAnswer)
    case images(ImageAnswer)
    case image(ImageEvent)
    /// The connection has taken what it was sent (`World.awaitingRoom`).
    case room(ConnectionID)
    case verified(number: Int64, PasswordOutcome)
    /// nil: the hasher has too much to do.
    case derived(number: Int64, Credentials?)
    case mailed(number: Int64, isSent: Bool)
    /// The batch with these awaited changes was committed, or refused and they with it.
    case stored(number: Int64, Bool)
    /// The store refused a batch: nothing of it is kept. Its authors were told (`World.line(for:)`); these of its
    /// changes are tried again later.
    case refused([Change], reason: String)
    /// After a refusal: the store accepts writes again.
    case storeRecovered
    /// A deadline passed, or nothing else happened for a while.
    case tick
    case reloaded(Settings)
    /// The process is asked to end: everyone is told and closed.
    case stopping
}
