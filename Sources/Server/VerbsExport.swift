import Bytes
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
            guard let uid = try export.find(ByteString(who)) else { return complain(who) }
            parts = .person(uid)
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

private func complain(_ name: String) -> Int32 {
    Output.error("parley: nothing is kept of \(Suggestion.printable(name))\n")
    return Exit.failure
}
