import APNSBatchBasics
import Testing

@testable import APNSBatchSimulator

@Suite("Queue of delayed answers")
struct AnswerQueueTests {
    static func answer(_ stream: UInt32) -> PendingAnswer {
        PendingAnswer(
            connection: 1, stream: stream, number: 0, isAuthorized: true, id: MessageID(high: UInt64(stream), low: 0))
    }

    @Test("Answers leave in the order of their times, and equal times in order of arrival")
    func order() {
        var random = SplitMix64(seed: 9)
        var queue = AnswerQueue()
        var expected: [(time: UInt64, stream: UInt32)] = []
        var stream: UInt32 = 0
        for round in 0..<200 {
            for _ in 0..<Int(random.next() % 40) {
                let time = UInt64(round) + random.next() % 50
                queue.insert(Self.answer(stream), at: time)
                expected.append((time, stream))
                stream += 1
            }
            expected.sort { ($0.time, $0.stream) < ($1.time, $1.stream) }
            #expect(queue.count == expected.count)
            #expect(queue.nextTime == expected.first?.time ?? .max)
            while let answer = queue.popDue(by: UInt64(round)) {
                #expect(answer.stream == expected.first?.stream)
                expected.removeFirst()
            }
            #expect(queue.nextTime > UInt64(round))
        }
    }

    @Test("The queue is empty when all answers have left")
    func empty() {
        var queue = AnswerQueue()
        #expect(queue.popDue(by: .max)?.stream == nil)
        queue.insert(Self.answer(1), at: 5)
        #expect(queue.popDue(by: 4)?.stream == nil)
        #expect(queue.popDue(by: 5)?.stream == 1)
        #expect(queue.nextTime == .max)
    }
}
