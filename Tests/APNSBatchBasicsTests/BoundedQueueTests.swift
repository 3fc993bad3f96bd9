import APNSBatchBasics
import Synchronization
import Testing

@Suite("Bounded queue") struct BoundedQueueTests {
    @Test("A queue returns each element once, in order for one producer, and ends after it is closed")
    func handsOver() throws {
        let queue = BoundedQueue<Int>(capacity: 3)
        let taken = Mutex<[Int]>([])
        let consumer = try NamedThread("consumer") {
            while let element = queue.pop() { taken.withLock { $0.append(element) } }
        }
        for number in 0..<10_000 { queue.push(number) }
        queue.close()
        consumer.join()
        #expect(taken.withLock { $0 } == Array(0..<10_000))
    }

    @Test("A push that waits for room ends when the queue is closed")
    func closeEndsPush() throws {
        let queue = BoundedQueue<Int>(capacity: 1)
        queue.push(1)
        let refused = Mutex(false)
        let producer = try NamedThread("producer") {
            let taken = queue.push(2)
            refused.withLock { $0 = !taken }
        }
        queue.close()
        producer.join()
        #expect(refused.withLock { $0 })
        #expect(queue.pop() == 1)
        #expect(queue.pop() == nil)
    }
}
