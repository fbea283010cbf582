extension ByteString {
    /// A text with each of these placeholders (`{name}`) replaced by its value; other braces stay as they are.
    package func filled(_ values: [(placeholder: ByteString, value: ByteString)]) -> ByteString {
        let brace: UInt8 = 0x7B
        if !bytes.contains(brace) { return self }
        return withView { view in
            var out: [UInt8] = []
            var at = 0
            while let next = view.firstIndex(of: brace, from: at) {
                out += view[at..<next].raw
                let here = view.dropFirst(next)
                let match = values.first { $0.placeholder.withView { here.hasPrefix($0) } }
                out += match?.value.bytes ?? [brace]
                at = next + (match?.placeholder.count ?? 1)
            }
            out += view.dropFirst(at).raw
            return ByteString(out)
        }
    }
}
