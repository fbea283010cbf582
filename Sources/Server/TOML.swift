import CTOML

/// A TOML 1.0 document, every key and value with its place in the file. Lines and columns count from 1.
package enum TOML {
    package struct Place: Sendable, Hashable {
        package let line: Int
        package let column: Int
    }

    package indirect enum Value: Sendable {
        case table([Entry])
        case array([Node])
        case string(String)
        case integer(Int64)
        case float(Double)
        case boolean(Bool)
        case date
    }

    package struct Node: Sendable {
        package let value: Value
        package let place: Place
    }

    package struct Entry: Sendable {
        package let key: String
        package let place: Place
        package let node: Node
    }

    /// The text is not TOML, or sets a key twice; the parser stops at the first one.
    package struct SyntaxError: Error, Sendable {
        package let message: String
        package let place: Place
    }

    /// The root table.
    package static func parse(_ text: [UInt8]) throws(SyntaxError) -> Node {
        let document = text.withUnsafeBytes {
            ctoml_parse($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
        }
        guard let document else { throw SyntaxError(message: "out of memory", place: Place(line: 1, column: 1)) }
        defer { ctoml_free(document) }
        if let error = ctoml_document_error(document) {
            let place = Place(line: Int(error.pointee.line), column: Int(error.pointee.column))
            throw SyntaxError(message: String(cString: error.pointee.message), place: place)
        }
        var reader = Reader(nodes: .init(start: ctoml_document_nodes(document), count: ctoml_document_count(document)))
        return reader.next().node
    }

    /// Rebuilds the tree; toml++ refuses nesting that is too deep for recursion.
    private struct Reader {
        let nodes: UnsafeBufferPointer<ctoml_node>
        var index = 0

        mutating func next() -> Entry {
            let raw = nodes[index]
            index += 1
            let children = Int(raw.children)
            let value: Value =
                switch raw.kind {
                case CTOML_TABLE: .table((0..<children).map { _ in next() })
                case CTOML_ARRAY: .array((0..<children).map { _ in next().node })
                case CTOML_STRING: .string(Self.string(raw.text, raw.text_length))
                case CTOML_INTEGER: .integer(raw.integer)
                case CTOML_FLOAT: .float(raw.number)
                case CTOML_BOOLEAN: .boolean(raw.boolean)
                default: .date
                }
            return Entry(
                key: Self.string(raw.key, raw.key_length),
                place: Place(line: Int(raw.key_line), column: Int(raw.key_column)),
                node: Node(value: value, place: Place(line: Int(raw.line), column: Int(raw.column))))
        }

        static func string(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
            String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }
}

extension TOML.Value {
    /// As a person would call it.
    package var kind: String {
        switch self {
        case .table: "a table"
        case .array: "a list"
        case .string: "a string"
        case .integer: "an integer"
        case .float: "a number with a fraction"
        case .boolean: "true or false"
        case .date: "a date or time"
        }
    }
}

extension TOML {
    /// A basic string with what TOML wants escaped.
    package static func quote(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\t": out += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}
