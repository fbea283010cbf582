import Bytes
import Wire

let operatorCommands: [Command] = []

extension World {
    mutating func verified(_ number: Int64, _ outcome: PasswordOutcome) {}
}
