// What a line costs before any socket: the grammar, the gate, the core, the store's write path, pictures.
//
//   bench                 nanoseconds and allocations for each operation
//   bench counts          allocations alone, for Benchmarks/check
//   bench instructions    under callgrind: a file for each operation, and how often it was done

let mode = CommandLine.arguments.dropFirst().first ?? "table"
var bench = Bench(mode: Bench.Mode(rawValue: mode) ?? .table)
bench.grammar()
bench.core()
for members in [10, 100, 1_000] { bench.relay(to: members) }
// Under callgrind ten thousand would take minutes to come in.
if mode != "instructions" { bench.relay(to: 10_000) }
bench.history()
bench.pictures()
bench.journal()
