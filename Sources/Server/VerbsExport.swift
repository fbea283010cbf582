import Bytes
import Chat
import Store

enum ExportSubject {
    case person(String)
    /// The # may be left out, which shells take for a comment.
    case channel(String)
}

/// `parley export`: JSON lines on standard output, also while the server runs.
func runExport(_ subject: ExportSubject, _ file: String?) -> Int32 {
    guard let loaded = loadOrComplain(file) else { return Exit.failure }
    do {
        let export = try Export.open(path: Places(loaded.configuration, .process).database)
        let parts: Export.Parts
        switch subject {
        case .person(let who):
            let found = try export.find(ByteString(who))
            guard found.count == 1 else { return complain(who, found) }
            parts = .person(found[0])
        case .channel(let name):
            guard let id = try export.find(channel: ByteString(name)) else { return complain(name) }
            parts = .channel(id)
        }
        var status = Exit.success
        try export.write(parts) { line in
            status = Output.print(line.string + "\n")
            return status == Exit.success
        }
        return status
    } catch {
        Output.error("parley: \(error)\n")
        return Exit.failure
    }
}

/// Nobody, or nobody for sure.
private func complain(_ name: String, _ found: [Int64] = []) -> Int32 {
    let name = Suggestion.printable(name)
    let uids = found.map { "=\(UID(number: $0).text)" }.joined(separator: " and ")
    Output.error("parley: \(found.isEmpty ? "nothing is kept of \(name)" : "\(name) may be \(uids)")\n")
    return Exit.failure
}
