import Bytes
import Store

/// `parley export`: JSON lines on standard output, also while the server runs.
func runExport(_ who: String, _ file: String?) -> Int32 {
    guard let loaded = loadOrComplain(file) else { return Exit.failure }
    do {
        let export = try Export.open(path: Places(loaded.configuration, .process).database)
        guard let uid = try export.find(ByteString(who)) else {
            Output.error("parley: nothing is kept of \(Suggestion.printable(who))\n")
            return Exit.failure
        }
        var status = Exit.success
        try export.write(uid) { line in
            status = Output.print(line.string + "\n")
            return status == Exit.success
        }
        return status
    } catch {
        Output.error("parley: \(error)\n")
        return Exit.failure
    }
}
