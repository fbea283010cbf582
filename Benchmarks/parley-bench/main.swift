import CSystem
import Glibc
import TestKit

/// Measures a server as those see it who connect to it.
private let usage = """
    parley-bench chat [--address IPV4 --port PORT [--pid PID]] [--clients N] [--channels N] [--seconds N] [--size BYTES]
                      [--rate MESSAGES-A-SECOND | --rate 0 --window N]
        Connects N clients that join channels and talk: how fast they came in, how long each message was on its way, and
        whether each came once and in order; 1 when not. --rate 0 says as much as goes, --window messages of each on
        their way at once. Without --port it starts a server of its own; with --pid it tells what the server used.

    parley-bench images [--size BYTES] [--pictures N] [--uploads N] [--seconds N]
        Starts a server of its own (PARLEY_BIN, or the parley beside this program) and measures pictures: speed in
        and out, memory of uploads at once, and how long chat is on its way meanwhile.
    """

do {
    switch CommandLine.arguments.dropFirst().first {
    case "images":
        let options = try Options(Array(CommandLine.arguments.dropFirst(2)), known: ImageBench.options)
        try ImageBench(options).run()
    case "chat":
        let options = try Options(Array(CommandLine.arguments.dropFirst(2)), known: ChatBench.options)
        try ChatBench(options).measure()
    default:
        say(usage)
        exit(2)
    }
} catch {
    say("parley-bench: \(error)")
    exit(1)
}
