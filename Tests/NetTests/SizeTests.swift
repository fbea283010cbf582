import Net
import Testing

@Suite struct SizeTests {
    @Test func anIdleConnectionIsSmall() { #expect(Reactor.bytesPerConnection <= 160) }
}
