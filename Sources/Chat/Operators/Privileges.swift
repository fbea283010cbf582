package import Bytes
import Wire

/// What an operator may do, by the names that `[[operator-class]]` gives.
package enum Privilege: String, Sendable, CaseIterable {
    case kill, kline, dline, resv, shun, lockdown, rehash, wallops
    case seeAddresses = "see-addresses"
    /// DROP of channels that others founded.
    case drop
    /// METADATA SET without a value and CLEAR on others.
    case metadata
    /// SUSPEND, UNSUSPEND and ACCOUNT, but for what gives a way in to an account that is another's.
    case accounts
    /// ACCOUNT PASSWD and CERT ADD: who has it can be anybody.
    case credentials
    /// ERASE: a person's identity and everything it said.
    case erase

    /// The class that is always there and may everything.
    package static let fullClass: ByteString = "admin"
}

extension World {
    /// A class that the configuration no longer knows may nothing.
    func isPrivileged(_ user: UserID, _ privilege: Privilege) -> Bool {
        guard users[user].isOperator else { return false }
        let kind = users[user].operatorKind
        return kind == Privilege.fullClass || settings.operatorClasses[kind]?.contains(privilege) ?? false
    }

    /// False: it was refused, with 481 for who is no operator and 723 for who is one of a lesser class.
    mutating func requireOperator(_ turn: Turn, _ privilege: Privilege?) -> Bool {
        guard let user = turn.user, users[user].isOperator else {
            reply(turn, .ERR_NOPRIVILEGES, ":Permission Denied - You're not an IRC operator")
            return false
        }
        guard let privilege, !isPrivileged(user, privilege) else { return true }
        reply(turn, .ERR_NOPRIVS, "\(privilege.rawValue) :Insufficient oper privileges.")
        return false
    }
}
