import Bytes
import Net
import Testing

@Suite struct MailboxTests {
    @Test func oneWakeForManyItems() throws {
        var host = try Host()
        let box = Mailbox<Int>(waker: host.reactor.waker)
        for item in 0..<100 { box.post(item) }
        host.turn(-1)
        #expect(host.log.wakes == 1)
        #expect(box.takeAll() == Array(0..<100))
        host.turn(0)
        #expect(host.log.wakes == 1)
        #expect(box.takeAll().isEmpty)
    }

    @Test func aSleepingReactorIsWokenByEveryProducer() throws {
        var host = try Host()
        let box = Mailbox<Int>(waker: host.reactor.waker)
        let each = 20_000
        let threads = (0..<3).map { producer in
            startThread(name: "producer") { for item in 0..<each { box.post(producer * each + item) } }
        }
        var last = [-1, -1, -1]
        var count = 0
        var items: [Int] = []
        while count < 3 * each {
            // Forever: a lost wake-up would hang here.
            host.reactor.turn(timeoutMilliseconds: -1, handler: &host.log)
            box.takeAll(into: &items)
            for item in items {
                #expect(last[item / each] < item, "order of one producer")
                last[item / each] = item
            }
            count += items.count
        }
        for thread in threads { thread.join() }
        #expect(count == 3 * each)
    }

    @Test func aBlockingThreadTakesAll() throws {
        let questions = try Mailbox<Int>()
        let answers = try Mailbox<Int>()
        let worker = startThread(name: "a worker with a long name") {
            while true {
                for question in questions.waitAndTakeAll() {
                    if question < 0 { return }
                    answers.post(question * 2)
                }
            }
        }
        for question in 0..<2_000 {
            questions.post(question)
            var answer: [Int] = []
            while answer.isEmpty { answer = answers.waitAndTakeAll(timeoutMilliseconds: 5_000) }
            #expect(answer == [question * 2])
        }
        questions.post(-1)
        worker.join()
    }

    @Test func waitingEndsWithTheTime() throws {
        let box = try Mailbox<Int>()
        #expect(box.waitAndTakeAll(timeoutMilliseconds: 10).isEmpty)
    }
}
