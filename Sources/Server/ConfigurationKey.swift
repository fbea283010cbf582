extension Schema {
    /// Where a key's value lies in what it configures.
    typealias Path<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

    /// One row of the schema: how a key is called, what it means, how it is read, checked and written.
    struct Key<Root>: Sendable {
        /// Within its table, `nick-length`.
        let word: StaticString
        /// Meaning and unit; the lines of the comment above the key.
        let comment: String
        /// Takes the value over, or says what is wrong with it.
        let read: @Sendable (TOML.Value, inout Root) -> String?
        /// The value as TOML text.
        let write: @Sendable (Root) -> String
        /// The range or the choices, for the documentation; empty: any.
        let allowed: String
        let isRequired: Bool

        var name: String { word.description }

        /// `parse` gives the value, or nil for a type that is not `expected`; `check` says what is wrong with a value.
        private init<Value>(
            _ name: StaticString, _ path: Path<Root, Value>, _ comment: String, required: Bool = false,
            allowed: String = "", expected: String, showsValue: Bool = true,
            parse: @escaping @Sendable (TOML.Value) -> Value?,
            check: @escaping @Sendable (Value) -> String?, write: @escaping @Sendable (Value) -> String
        ) {
            word = name
            self.comment = comment
            self.allowed = allowed
            isRequired = required
            read = { value, root in
                guard let parsed = parse(value) else {
                    return "expected \(expected), found \(showsValue ? value.found : value.kind)"
                }
                if let complaint = check(parsed) { return complaint }
                root[keyPath: path] = parsed
                return nil
            }
            self.write = { write($0[keyPath: path]) }
        }

        static func text(
            _ name: StaticString, _ path: Path<Root, String>, _ comment: String, required: Bool = false,
            check: @escaping @Sendable (String) -> String? = { _ in nil }
        ) -> Key {
            Key(
                name, path, comment, required: required, expected: "a string in quotes", showsValue: false,
                parse: { if case .string(let text) = $0 { text } else { nil } },
                check: check, write: TOML.quote)
        }

        static func lines(
            _ name: StaticString, _ path: Path<Root, [String]>, _ comment: String, required: Bool = false,
            check: @escaping @Sendable ([String]) -> String?
        ) -> Key {
            Key(
                name, path, comment, required: required, expected: "a list of strings",
                parse: { value in
                    guard case .array(let nodes) = value else { return nil }
                    let lines: [String] = nodes.compactMap {
                        if case .string(let text) = $0.value { text } else { nil }
                    }
                    return lines.count == nodes.count ? lines : nil
                },
                check: check, write: { "[" + $0.map(TOML.quote).joined(separator: ", ") + "]" })
        }

        static func integer(
            _ name: StaticString, _ path: Path<Root, Int>, _ range: ClosedRange<Int>, _ comment: String,
            required: Bool = false
        ) -> Key {
            Key(
                name, path, comment, required: required, allowed: "\(range.lowerBound) to \(range.upperBound)",
                expected: "an integer",
                parse: { if case .integer(let number) = $0 { Int(number) } else { nil } },
                check: { outside($0, range) { "\($0)" } }, write: { "\($0)" })
        }

        static func number(
            _ name: StaticString, _ path: Path<Root, Double>, _ range: ClosedRange<Double>, _ comment: String
        ) -> Key {
            Key(
                name, path, comment, allowed: "\(range.lowerBound) to \(range.upperBound)", expected: "a number",
                parse: {
                    switch $0 {
                    case .integer(let number): Double(number)
                    case .float(let number): number
                    default: nil
                    }
                },
                check: { outside($0, range) { "\($0)" } }, write: { "\($0)" })
        }

        static func boolean(_ name: StaticString, _ path: Path<Root, Bool>, _ comment: String) -> Key {
            Key(
                name, path, comment, expected: "true or false",
                parse: { if case .boolean(let flag) = $0 { flag } else { nil } },
                check: { _ in nil }, write: { "\($0)" })
        }

        /// Bytes.
        static func size(
            _ name: StaticString, _ path: Path<Root, Int>, _ range: ClosedRange<Int>, _ comment: String
        ) -> Key {
            Key(
                name, path, comment,
                allowed: "\(Quantity.text(size: range.lowerBound)) to \(Quantity.text(size: range.upperBound))",
                expected: "a size such as \"64KiB\", \"1MiB\" or a number of bytes",
                parse: {
                    switch $0 {
                    case .integer(let number): Int(number)
                    case .string(let text): Quantity.size(text)
                    default: nil
                    }
                },
                check: { outside($0, range, Quantity.text(size:)) },
                write: { TOML.quote(Quantity.text(size: $0)) })
        }

        /// An integer counts in `unit`; with `plain` the default is written so.
        static func duration(
            _ name: StaticString, _ path: Path<Root, Duration>, _ range: ClosedRange<Duration>,
            unit: Duration, plain: Bool = false, _ comment: String
        ) -> Key {
            Key(
                name, path, comment,
                allowed: "\(Quantity.text(duration: range.lowerBound)) to \(Quantity.text(duration: range.upperBound))",
                expected: "a time such as \"500ms\", \"10s\", \"5m\", \"12h\", \"90d\" or an integer",
                parse: {
                    switch $0 {
                    case .integer(let number): Int32(exactly: number).map { unit * $0 }
                    case .string(let text): Quantity.duration(text)
                    default: nil
                    }
                },
                check: { outside($0, range, Quantity.text(duration:)) },
                write: {
                    plain ? "\($0.milliseconds / unit.milliseconds)" : TOML.quote(Quantity.text(duration: $0))
                })
        }

        static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
            _ name: StaticString, _ path: Path<Root, Value>, _ comment: String
        ) -> Key {
            let choices = Value.allCases.map { TOML.quote($0.rawValue) }
            let expected = choices.count == 1 ? choices[0] : "one of " + choices.joined(separator: ", ")
            return Key(
                name, path, comment, allowed: choices.joined(separator: ", "), expected: expected,
                parse: { if case .string(let text) = $0 { Value(rawValue: text) } else { nil } },
                check: { _ in nil }, write: { TOML.quote($0.rawValue) })
        }
    }

    /// `[name]`: a table of the file and its keys.
    struct Section<Root>: Sendable {
        let word: StaticString
        let comment: String
        let keys: [Key<Root>]

        init(name: StaticString, comment: String, keys: [Key<Root>]) {
            word = name
            self.comment = comment
            self.keys = keys
        }

        var name: String { word.description }
    }
}

private func outside<Value: Comparable>(
    _ value: Value, _ range: ClosedRange<Value>, _ text: (Value) -> String
) -> String? {
    if range.contains(value) { return nil }
    return "\(text(value)) is out of range, allowed is \(text(range.lowerBound)) to \(text(range.upperBound))"
}

extension TOML.Value {
    /// What was found, with the value where that is short. Not for keys that take any text: it might be a password.
    fileprivate var found: String {
        switch self {
        case .integer(let number): "\(number)"
        case .float(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .string(let text) where text.utf8.count <= 32: TOML.quote(text)
        default: kind
        }
    }
}
