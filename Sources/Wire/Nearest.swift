package import Bytes

/// The known word that `word` was probably meant to be, for "did you mean"; nil if none is near. ASCII case is ignored.
///
/// Near: a letter wrong, missing, too many, or two swapped; twice in words of five letters or more. The first of
/// several wins.
package func nearestWord(_ word: ByteView, among words: [StaticString]) -> StaticString? {
    guard (2...32).contains(word.count) else { return nil }
    var best: StaticString?
    var limit = word.count < 5 ? 1 : 2
    for candidate in words {
        let distance = editDistance(word, ByteView(candidate), limit: limit)
        guard distance <= limit, distance < max(word.count, candidate.utf8CodeUnitCount) else { continue }
        best = candidate
        if distance == 0 { break }
        limit = distance - 1
    }
    return best
}

/// Damerau-Levenshtein distance, each pair swapped at most once (optimal string alignment); `limit + 1` if it is more.
private func editDistance(_ a: ByteView, _ b: ByteView, limit: Int) -> Int {
    guard abs(a.count - b.count) <= limit else { return limit + 1 }
    var older = [Int](repeating: 0, count: b.count + 1)
    var above = Array(0...b.count)
    for i in 0..<a.count {
        var row = [i + 1]
        row.reserveCapacity(b.count + 1)
        for j in 0..<b.count {
            let isSame = ASCII.lower(a[i]) == ASCII.lower(b[j])
            var cost = min(above[j] + (isSame ? 0 : 1), above[j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, ASCII.lower(a[i]) == ASCII.lower(b[j - 1]), ASCII.lower(a[i - 1]) == ASCII.lower(b[j]) {
                cost = min(cost, older[j - 1] + 1)
            }
            row.append(cost)
        }
        if row.min() ?? 0 > limit { return limit + 1 }
        (older, above) = (above, row)
    }
    return above[b.count]
}
