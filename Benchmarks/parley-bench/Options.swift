import CSystem
import Glibc
import TestKit

/// `--name value` behind the name of a measurement.
struct Options {
    private var values: [String: String] = [:]

    init(_ arguments: [String], known: [String]) throws {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), known.contains(String(name.dropFirst(2))), let value = rest.popFirst() else {
                throw DoorError("what is \(name)? Known, each with a value: \(known.map { "--\($0)" })")
            }
            values[String(name.dropFirst(2))] = value
        }
    }

    func number(_ name: String, _ standard: Int) throws -> Int {
        guard let value = values[name] else { return standard }
        guard let number = Int(value), number >= 0 else { throw DoorError("--\(name) is a number") }
        return number
    }

    func text(_ name: String) -> String? { values[name] }
}

/// A line of the report, at once.
func say(_ text: String) {
    print(text)
    fflush(nil)
}
