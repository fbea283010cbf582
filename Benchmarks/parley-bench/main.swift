import Glibc
import TestKit

/// Measures a server as those see it who connect to it.
private let usage = """
    parley-bench images [--size BYTES] [--pictures N] [--uploads N] [--seconds N]
        Starts a server of its own (PARLEY_BIN, or the parley beside this program) and measures pictures: speed in
        and out, memory of uploads at once, and how long chat is on its way meanwhile.
    """

do {
    switch CommandLine.arguments.dropFirst().first {
    case "images":
        let options = try Options(Array(CommandLine.arguments.dropFirst(2)), known: ImageBench.options)
        try ImageBench(options).run()
    default:
        say(usage)
        exit(2)
    }
} catch {
    say("parley-bench: \(error)")
    exit(1)
}
