import Bytes
import Wire

/// A guest's token: `uid.epoch.mac`. The MAC under the server's secret makes it right without any row; the epoch lets
/// IDENTITY REVOKE void all earlier ones.
extension World {
    func token(of user: UserID) -> ByteString { token(users[user].uid, epoch: users[user].epoch) }

    private func token(_ uid: UID, epoch: Int64) -> ByteString {
        let named: ByteString = "\(uid.text).\(epoch)"
        // 130 bits of the MAC: more than can be guessed, short enough to copy by hand.
        let mac = Base32.encode(Array(ports.mac(Array("token:".utf8) + named.bytes).prefix(16)))
        return "\(named).\(mac)"
    }

    /// What a token names if its MAC is right; the epoch is yet to be compared with the row's.
    private func verify(_ text: ByteView) -> (uid: UID, epoch: Int64)? {
        let parts = text.parts(0x2E)
        guard parts.count == 3, let uid = UID(parts[0]), let epoch = parts[1].decimal(limit: .max) else { return nil }
        let right = token(uid, epoch: Int64(epoch)).withView { constantTimeEquals($0, text) }
        return right ? (uid, Int64(epoch)) : nil
    }

    /// Starts a return. The MAC is checked at once, without asking the store; the row decides the rest.
    mutating func resume(_ errand: Errand, token text: ByteView) {
        if refuseThrottled(errand) { return }
        guard let (uid, epoch) = verify(text) else {
            countFailure(errand)
            return refuse(errand, "INVALID_TOKEN", "This token is not right")
        }
        var errand = errand
        errand.proof = .token(uid, epoch: epoch)
        look(up: .uid(uid), for: errand)
    }
}
