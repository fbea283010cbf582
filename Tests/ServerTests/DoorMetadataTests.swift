import TestKit
import Testing

/// METADATA at the door: what is told of a person and a channel outlives the process.
@Suite struct DoorMetadataTests {
    @Test("What a guest and a channel tell of themselves is there after kill -9, and comes back with the token")
    func survives() throws {
        let server = try ServerProcess()
        let ana = try server.connect("ana")
        try ana.register("ana", capabilities: ["batch", "draft/metadata-2"])
        try ana.join("#cats")
        try ana.send("METADATA * SET homepage :https://ana.example", "METADATA #cats SET url :https://cats.example")
        try ana.expect(" 761 ", "ana ana homepage * :https://ana.example")
        try ana.expect(" 761 ", "ana #cats url * :https://cats.example")
        try ana.send("IDENTITY TOKEN")
        let token = try ana.expect("NOTE IDENTITY TOKEN").parameters[2]
        server.kill9()
        try server.start()

        let again = try server.connect("again")
        try again.send("PASS guest:\(token)", "NICK ana")
        try again.expect(" 001 ")
        let bo = try server.connect("bo")
        try bo.register("bo", capabilities: ["batch", "draft/metadata-2"])
        try bo.send("METADATA ana GET homepage")
        try bo.expect(" 761 ", "bo ana homepage * :https://ana.example")
        try bo.send("METADATA * SUB url homepage")
        let entrance = try bo.join("#cats")
        #expect(entrance.contains { $0.command == "353" })
        let told = try bo.sync().filter { $0.command == "METADATA" }.map(\.last)
        #expect(told == ["https://cats.example", "https://ana.example"])
    }
}
