import Bytes
import Chat
import Net
import TestKit
import Testing

/// ana and bo in #cats, and a picture.
struct ImageStage {
    let script: WorldScript
    let ana: ScriptClient
    let bo: ScriptClient
    let picture: [UInt8]

    init(_ change: (inout Settings) -> Void = { _ in }, capabilities: String = "", picture: String = "camera.jpg")
        throws
    {
        script = WorldScript(change)
        ana = script.client("ana", capabilities: capabilities)
        bo = script.client("bo")
        for client in [ana, bo] { client.send("JOIN #cats") }
        for client in [ana, bo] { _ = client.read() }
        self.picture = try Fixture.bytes(picture)
    }
}

/// Larger than any window, and for the fake check a picture.
let largeUpload = [UInt8](repeating: 0x5A, count: 200_000)

func base64(_ bytes: some Collection<UInt8>) -> String { Base64.encode(Array(bytes)).string }

func sha256(_ bytes: [UInt8]) -> String { Hex.encode(Crypto.sha256(bytes)).string }

extension ImageStage {
    /// A person in #cats, who is not pinged.
    func person(_ nick: String) -> ScriptClient {
        let person = script.connect()
        person.send("NICK \(nick)")
        _ = person.ask("JOIN #cats")
        return person
    }
}

extension ScriptClient {
    /// The id that READY tells.
    func begin(_ line: String) throws -> String {
        let answer = ask(line)
        let ready = try #require(answer.first { $0.contains(" IMG READY ") }, "\(answer)")
        return String(ready.split(separator: " ")[3])
    }

    func data(_ id: String, _ bytes: some Collection<UInt8>, chunk: Int = 3000) {
        var rest = bytes[...]
        while !rest.isEmpty {
            send("IMG DATA \(id) * \(base64(rest.prefix(chunk)))")
            rest = rest.dropFirst(chunk)
        }
    }

    /// BEGIN, DATA and END; what END answered.
    func upload(_ bytes: [UInt8], to target: String, type: String = "image/jpeg", details: String = "- :my cat") throws
        -> [String]
    {
        let id = try begin("IMG BEGIN \(target) \(type) \(bytes.count) \(details)")
        data(id, bytes)
        return ask("IMG END \(id)")
    }

    func paste(_ bytes: [UInt8], width: Int = 76) {
        var rest = Substring(base64(bytes))
        while !rest.isEmpty {
            send(String(rest.prefix(width)))
            rest = rest.dropFirst(width)
        }
    }

    /// What IMG GET sent, put together; nil: it was not sent to its end.
    func fetched(_ lines: [String]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var next: Int?
        for line in lines where line.hasPrefix("IMG DATA ") {
            let words = line.split(separator: " ")
            guard let offset = Int(words[3]), offset == next ?? offset,
                let part = ByteString(String(words[4])).withView({ Base64.decode($0) })
            else { return nil }
            bytes += part
            next = offset + part.count
        }
        return lines.contains { $0.hasPrefix("IMG EOF ") } ? bytes : nil
    }
}

/// The code of the only FAIL among lines; otherwise the lines.
func failure(_ lines: [String]) -> String {
    let failures = lines.filter { $0.contains(" FAIL IMG ") }
    return failures.count == 1 ? String(failures[0].split(separator: " ")[3]) : "\(lines)"
}
