import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending

extension Sender {
    /// Sends a notification for each item of a sequence, and returns the items with their results, in the order in which they
    /// end. Nothing is sent before the results are iterated over.
    ///
    /// The sequence is asked for its next item while fewer than `pending` items are without a result or have one that was not
    /// taken, so a slow consumer slows the sending. When the iteration ends early or its task is cancelled, what is pending is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - items: What to send. An error that it throws ends the results, after those of the items before.
    ///   - pending: At least 1.
    ///   - timeout: The longest time until an item has its result; nil for ``Configuration/timeout``.
    ///   - notification: Makes the notification of an item.
    public func send<Items: AsyncSequence & Sendable>(
        contentsOf items: Items, pending: Int = 1000, timeout: Duration? = nil,
        _ notification: @escaping @Sendable (Items.Element) -> PushNotification
    ) -> SendResults<Items> where Items.Element: Sendable {
        precondition(pending > 0, "pending must be at least 1")
        return SendResults(sender: self, items: items, pending: pending, timeout: timeout, notification: notification)
    }
}

/// The results of ``Sender/send(contentsOf:pending:timeout:_:)``. Iterate once.
public struct SendResults<Items: AsyncSequence & Sendable>: AsyncSequence, Sendable where Items.Element: Sendable {
    /// An item, and what became of its notification.
    public typealias Element = (item: Items.Element, result: Result<SendResult, SendError>)

    let sender: Sender
    let items: Items
    let pending: Int
    let timeout: Duration?
    let notification: @Sendable (Items.Element) -> PushNotification

    /// Returns the iterator, which begins to send when it is made. Call it once.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(SendCollector(self)) }

    /// Sends the items and takes their results. When it is released, what is pending is cancelled.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Ends the sending when the iterator is gone.
        private final class Owner {
            let collector: SendCollector<Items>
            let feeding: Task<Void, Never>

            init(_ collector: SendCollector<Items>) {
                self.collector = collector
                feeding = Task { await collector.feed() }
            }

            deinit {
                feeding.cancel()
                collector.abandon()
            }
        }

        private let owner: Owner

        init(_ collector: SendCollector<Items>) { owner = Owner(collector) }

        /// Returns the next result; nil after the last one, or when the task is cancelled.
        ///
        /// - Throws: What the sequence of items throws, after the results of the items before.
        public mutating func next() async throws -> Element? { try await owner.collector.next() }
    }
}
