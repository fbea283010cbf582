import Bytes
import Chat
import Wire

extension Bench {
    func grammar() {
        let line: ByteString = "@+typing=active PRIVMSG #lobby :hello there, all of you"
        var sum = 0
        line.withView { line in
            measure("parse", rounds: 1_000_000) { sum += Message(parsing: line)?.parameterCount ?? 0 }
        }
        var lines: ByteString = ""
        for _ in 0..<100 { lines = "\(lines)\(line)\r\n" }
        var framer = Framer()
        var scratch = ByteBuffer()
        lines.withView { lines in
            measure("frame", rounds: 10_000, batch: 100) {
                var offset = 0
                while case .line(let line) = framer.next(lines, at: &offset, ended: false, scratch: &scratch) {
                    sum += line.count
                }
            }
        }
        precondition(sum > 1_000_000)
    }

    func core() {
        let stage = Stage.channel(of: 2)
        measure("turn in which nothing is due", rounds: 100_000) {
            stage.apply(.tick)
            stage.release()
        }
        let ping: ByteString = "PING 1234"
        ping.withView { ping in
            measure("gate and answer (PING)", rounds: 100_000) {
                stage.say(0, ping)
                stage.release()
            }
        }
        let refused: ByteString = "PRIVMSG #nowhere :hello"
        refused.withView { refused in
            measure("gate and refusal (PRIVMSG)", rounds: 100_000) {
                stage.say(0, refused)
                stage.release()
            }
        }
    }

    func relay(to members: Int) {
        let stage = Stage.channel(of: members)
        let line: ByteString = "PRIVMSG #bench :a line of the usual length, as people type them"
        let before = stage.sent
        let rounds = max(30, 200_000 / members)
        line.withView { line in
            measure("relay to \(members)", rounds: rounds) {
                stage.say(0, line)
                stage.release()
            }
        }
        precondition(stage.sent - before > rounds / 100 * members * line.count)
    }

    func history() {
        let stage = Stage.channel(of: 2)
        let text: ByteString = "a line of the usual length, as people type them"
        stage.enter(9, "CAP REQ :batch server-time message-tags draft/chathistory", "CAP END", "JOIN #bench")
        let ask: ByteString = "CHATHISTORY LATEST #bench * 100"
        var records: [LogRecord] = []
        ask.withView { ask in
            measure("history page, a line of 100", rounds: 2_000, batch: 100) {
                stage.say(9, ask)
                guard let question = stage.world.effects.pages.first else { preconditionFailure("nothing was asked") }
                if records.isEmpty {
                    records = (1...100).map {
                        LogRecord(
                            position: $0, conversation: question.conversation, time: 1_780_000_000_000 + $0,
                            kind: .privmsg, uid: UID(number: 5), source: "n5!n@bench", name: "n", text: text)
                    }
                }
                stage.release()
                stage.apply(.page(HistoryPage(number: question.number, records: records, isComplete: false)))
                stage.release()
            }
        }
        precondition(stage.sent > 100 * text.count * 20)
    }
}
