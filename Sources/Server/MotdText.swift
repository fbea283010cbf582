import Bytes

extension Motd {
    /// What is shown without a file of one's own; the same as `motd/parley.txt`, from which to start one.
    static let builtIn: ByteString = """
        Welcome to {server}, on {network}. Users online: {users}.

          JOIN #lobby        come in and read what was said; then just type
          LIST               the channels there are
          WHO #lobby         who is in a channel
          HELP               every command, with examples

        What is said in channels is kept, and is there when you come back.
        Parley {version}

        """
}
