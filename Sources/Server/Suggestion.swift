/// Help for those who mistype.
enum Suggestion {
    /// The candidate with the fewest letters added, left out, changed or swapped; nil when none is near.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let near = candidates.map { (distance(word, $0), $0) }.min { $0.0 < $1.0 }
        guard let (distance, candidate) = near, distance <= max(1, candidate.utf8.count / 3) else { return nil }
        return candidate
    }

    /// Foreign text for one line of output: control characters as `?`, long text cut.
    static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(80).map { isControl($0) ? "?" : $0 }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Damerau-Levenshtein, adjacent swaps once.
    static func distance(_ one: String, _ other: String) -> Int {
        let a = Array(one.utf8.prefix(64))
        let b = Array(other.utf8)
        var rows = [Array(0...b.count)]
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                let change = rows[i][j] + (a[i] == b[j] ? 0 : 1)
                var best = min(rows[i][j + 1] + 1, row[j] + 1, change)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
