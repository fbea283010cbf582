package import Bytes

/// 005 tokens (Modern IRC, RPL_ISUPPORT).
package enum ISupport {
    /// Modern IRC: a line has at most 13 tokens, since nick and text take two of the 15 parameters.
    package static let mostTokens = 13

    /// The tokens joined to parameter groups, one for each 005 line. `overhead`: the bytes of the line around them,
    /// source and CR LF included; a line stays within 512.
    package static func groups(_ tokens: [ByteString], overhead: Int) -> [ByteString] {
        var groups: [ByteString] = []
        var group: [UInt8] = []
        var count = 0
        for token in tokens {
            if count == mostTokens || (count > 0 && overhead + group.count + 1 + token.count > LineLimits.message) {
                groups.append(ByteString(group))
                group = []
                count = 0
            }
            if count > 0 { group.append(0x20) }
            group += token.bytes
            count += 1
        }
        if count > 0 { groups.append(ByteString(group)) }
        return groups
    }

    /// A value in which space, backslash and `=` are written as `\x20`, `\x5C` and `\x3D`.
    package static func escape(_ value: ByteView) -> ByteString {
        var escaped: [UInt8] = []
        for i in 0..<value.count {
            switch value[i] {
            case 0x20: escaped += Array(#"\x20"#.utf8)
            case 0x5C: escaped += Array(#"\x5C"#.utf8)
            case 0x3D: escaped += Array(#"\x3D"#.utf8)
            default: escaped.append(value[i])
            }
        }
        return ByteString(escaped)
    }
}
