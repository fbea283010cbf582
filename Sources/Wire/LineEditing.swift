package import Bytes

/// Corrections typed into a line that no terminal edited (a telnet session in character mode).
package enum LineEditing {
    /// BS (8) and DEL (127) erase the scalar before them. False, and `edited` is left alone, if the line has none.
    /// Otherwise `edited` is replaced by the line as it was meant.
    package static func apply(_ line: ByteView, into edited: inout ByteBuffer) -> Bool {
        guard line.contains(0x08) || line.contains(0x7F) else { return false }
        edited.clear()
        for i in 0..<line.count {
            if line[i] == 0x08 || line[i] == 0x7F {
                edited.truncate(lengthWithoutLastScalar(edited.view))
            } else {
                edited.append(byte: line[i])
            }
        }
        return true
    }

    private static func lengthWithoutLastScalar(_ text: ByteView) -> Int {
        UTF8Check.scalarBoundary(text, atMost: max(text.count - 1, 0))
    }
}
