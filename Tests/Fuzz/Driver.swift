import Glibc

// One program, many targets: FUZZ_TARGET names the one that libFuzzer drives. The name is not an argument, because
// libFuzzer starts copies of itself with its own arguments (`-merge`, `-minimize_crash`). Without a name it prints all.

private let chosen: Target? = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    return targets.first { $0.name == name }
}()

/// Called once by libFuzzer's `main`, before anything else.
@_cdecl("LLVMFuzzerInitialize")
func initialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> Int32 {
    if chosen == nil {
        print(targets.map(\.name).joined(separator: "\n"))
        exit(0)
    }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    chosen?.run(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
