import Glibc

/// `parley hash-password`: one line from standard input, its hash on standard output.
func runHashPassword() -> Int32 {
    guard let password = readPassword() else {
        Output.error("parley: no password given\n")
        return Exit.failure
    }
    guard password.count <= PasswordHash.longestPassword else {
        Output.error("parley: the password is longer than \(PasswordHash.longestPassword) bytes\n")
        return Exit.failure
    }
    guard let hash = PasswordHash.make(password) else {
        Output.error("parley: no memory for the hash\n")
        return Exit.failure
    }
    return Output.print("\(hash)\n")
}

/// nil: an empty line, the end of the input, or Ctrl-C at the prompt.
func readPassword() -> [UInt8]? {
    guard isatty(STDIN_FILENO) == 1 else { return readLine() }
    return withoutEcho {
        Output.error("Password: ")
        defer { Output.error("\n") }
        return readLine()
    }
}

/// Byte by byte: what follows the line is left to whoever reads next.
private func readLine() -> [UInt8]? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while line.count <= PasswordHash.longestPassword {
        guard let count = try? Files.check({ read(STDIN_FILENO, &byte, 1) }), count == 1, byte != 0x0A else { break }
        if byte == controlC { return nil }
        line.append(byte)
    }
    if line.last == 0x0D { line.removeLast() }
    return line.isEmpty ? nil : line
}

private let controlC: UInt8 = 0x03

/// Ctrl-C ends the line here instead of the process, which would leave the terminal without echo.
private func withoutEcho<Result>(_ body: () -> Result) -> Result {
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else { return body() }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
    withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VEOL)] = controlC }
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
    defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
    return body()
}
