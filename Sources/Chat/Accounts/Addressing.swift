import Bytes
import Wire

/// Direct messages to the name of an account that nobody has as a nick now: they are kept for its return.
extension World {
    /// False: there is no such account.
    mutating func lookUpAccount(_ target: ByteView, _ turn: Turn, _ utterance: Utterance) -> Bool {
        guard accounts.names.contains(target) else { return false }
        let letter = Letter(
            session: turn.session, utterance: utterance, uid: .none, target: shown(target),
            label: deferLabel(turn.session))
        sessions[turn.session].isWaiting = true
        let number = nextQuestion(.addressingAccount(letter))
        effects.identities.append(IdentityQuestion(number: number, who: .account(Names.fold(target))))
        return true
    }

    /// One that is not verified yet, or is gone, gets nothing.
    mutating func address(_ letter: Letter, to account: AccountState?) {
        let isThere = account?.standing == .open
        var letter = letter
        letter.uid = account?.uid ?? .none
        send(letter, DirectAnswer(number: 0, records: [], isComplete: isThere))
    }
}
