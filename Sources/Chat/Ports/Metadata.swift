package import Bytes

package struct MetadataEntry: Sendable, Equatable {
    package var key: ByteString
    package var value: ByteString

    package init(key: ByteString, value: ByteString) {
        self.key = key
        self.value = value
    }
}

/// Whose metadata a row is.
package enum MetadataOwner: Hashable, Sendable {
    case identity(UID)
    /// The channel's id.
    case channel(Int64)
}

/// The keys and values of one owner, in order of the keys' bytes.
package struct Metadata: Sendable, Equatable {
    package private(set) var entries: [MetadataEntry]

    package init(_ entries: [MetadataEntry] = []) {
        self.entries = entries.sorted { Metadata.precedes($0.key, $1.key) }
    }

    package var isEmpty: Bool { entries.isEmpty }
    package var count: Int { entries.count }

    /// Setting nil removes the key.
    package subscript(key: ByteString) -> ByteString? {
        get { entries.first { $0.key == key }?.value }
        set {
            let at = entries.firstIndex { !Metadata.precedes($0.key, key) } ?? entries.count
            let isThere = at < entries.count && entries[at].key == key
            switch newValue {
            case .some(let value) where isThere: entries[at].value = value
            case .some(let value): entries.insert(MetadataEntry(key: key, value: value), at: at)
            case .none: if isThere { entries.remove(at: at) }
            }
        }
    }

    private static func precedes(_ a: ByteString, _ b: ByteString) -> Bool {
        a.bytes.lexicographicallyPrecedes(b.bytes)
    }
}
