import Glibc
import Server

exit(run(CommandLine.arguments))
