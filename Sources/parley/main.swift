import Glibc
import Server

exit(Verb.run(CommandLine.arguments))
