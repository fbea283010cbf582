/// The command line's help: one screen of 80 by 24.
package enum Help {
    package static let text = """
        Parley \(Version.string), a chat server for IRC clients, netcat and bots.

        Usage: parley [serve] [--config FILE]    run the server (without a file: defaults)
               parley check-config [FILE]        name everything that is wrong in a file
               parley default-config             print every key, commented, at its default
               parley hash-password              hash a password for an [[operator]]
               parley check-store                compare the database with the pictures' files
               parley export WHO                 what is kept of a nick, account or =uid, as JSON
               parley export --channel NAME      a channel with its history, as JSON lines
               parley account add NAME ...       also list, passwd, suspend, delete, cert
               parley operator COMMAND ...       any command, as its operator: operator KLINE

        Options:
          -c, --config FILE    configuration in TOML; start from parley default-config
          -h, --help           this text
          -V, --version        print the version

        It listens on 127.0.0.1 and ::1, port 6667, and with TLS on port 6697. Data are
        kept in $STATE_DIRECTORY, or in ./data. SIGHUP reloads configuration, certificates
        and the message of the day; SIGTERM ends the server.

        Try it:  printf 'NICK ana\\nJOIN #lobby\\nPRIVMSG #lobby :hello\\n' | nc -N localhost 6667

        """
}
