import Bytes
import Chat
import Wire

extension Bench {
    func pictures() {
        upload()
        paste()
        download()
    }

    /// A session that sends a picture without end, and its number.
    private func begin(_ line: ByteString) -> (Stage, Int64) {
        let stage = Stage.channel(of: 2)
        line.withView { stage.say(0, $0) }
        guard let question = stage.world.effects.imageQuestions.first else { preconditionFailure("nothing was asked") }
        stage.release()
        stage.apply(.images(ImageAnswer(number: question.number)))
        guard case .saveUpload(let state)? = stage.world.effects.changes.first else {
            preconditionFailure("nothing began")
        }
        stage.release()
        return (stage, state.id)
    }

    private func upload() {
        let (stage, id) = begin("IMG BEGIN #bench image/png * -")
        let data = Base64.encode([UInt8](repeating: 0x5A, count: 4500))
        let line: ByteString = "IMG DATA * * \(data)"
        var sent: Int64 = 0
        line.withView { line in
            measure("IMG DATA of 4500 bytes", rounds: 20_000, batch: 4) {
                for _ in 0..<4 { stage.say(0, line) }
                sent += 4 * 4500
                stage.apply(.image(.written(upload: id, upTo: sent)))
                stage.release()
            }
        }
    }

    private func paste() {
        let (stage, id) = begin("IMG PASTE #bench image/png")
        let line = Base64.encode([UInt8](repeating: 0x5A, count: 57))
        var lines: ByteString = ""
        for _ in 0..<200 { lines = "\(lines)\(line)\n" }
        var framer = Framer()
        framer.takesData = true
        var sent: Int64 = 0
        lines.withView { lines in
            measure("pasted line of 76", rounds: 5_000, batch: 200) {
                var offset = 0
                stage.apply(.fragment(Stage.id(0), framer.dataLines(lines, at: &offset)))
                precondition(offset == lines.count)
                sent += 200 * 57
                stage.apply(.image(.written(upload: id, upTo: sent)))
                stage.release()
            }
        }
    }

    private func download() {
        let stage = Stage.channel(of: 2)
        let get: ByteString = "IMG GET \(ImageID.text(5)) chunk=4500"
        get.withView { stage.say(0, $0) }
        guard let question = stage.world.effects.imageQuestions.first else { preconditionFailure("nothing was asked") }
        var image = ImageState(id: 5, uid: UID(number: 5), conversation: .portrait(UID(number: 5)), type: .png)
        image.size = 1 << 50
        var answer = ImageAnswer(number: question.number)
        answer.images = [image]
        stage.apply(.images(answer))
        stage.release()
        let piece = [UInt8](repeating: 0x5A, count: 3 * 4500)
        measure("IMG GET, a line of 4500 bytes", rounds: 20_000, batch: 3) {
            stage.apply(.room(Stage.id(0)))
            guard case .read(let number, _, _, piece.count)? = stage.world.effects.images.first else {
                preconditionFailure("no piece was asked for")
            }
            stage.apply(.image(.bytes(number: number, piece, failure: nil)))
            stage.release()
        }
        precondition(stage.sent > 100_000)
    }
}
