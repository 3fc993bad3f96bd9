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
    @inlinable
    public func send<Items: AsyncSequence & Sendable>(
        contentsOf items: Items, pending: Int = 1000, timeout: Duration? = nil,
        _ notification: @escaping @Sendable (Items.Element) -> PushNotification
    ) -> SendResults<Items> where Items.Element: Sendable {
        precondition(pending > 0, "pending must be at least 1")
        return SendResults(sender: self, items: items, pending: pending, timeout: timeout, notification: notification)
    }
}

/// The results of ``Sender/send(contentsOf:pending:timeout:_:)``. Iterate once: to iterate again would be to send again, so another
/// iterator sends nothing and throws a ``CampaignError`` with the code ``CampaignError/Code-swift.enum/alreadyRun``.
public struct SendResults<Items: AsyncSequence & Sendable>: AsyncSequence, Sendable where Items.Element: Sendable {
    /// An item, and what became of its notification.
    public typealias Element = (item: Items.Element, result: Result<SendResult, SendError>)

    @usableFromInline let sender: Sender
    @usableFromInline let items: Items
    @usableFromInline let pending: Int
    @usableFromInline let timeout: Duration?
    @usableFromInline let notification: @Sendable (Items.Element) -> PushNotification
    @usableFromInline let life = SharedLife()

    @usableFromInline
    init(
        sender: Sender, items: Items, pending: Int, timeout: Duration?,
        notification: @escaping @Sendable (Items.Element) -> PushNotification
    ) {
        (self.sender, self.items, self.pending) = (sender, items, pending)
        (self.timeout, self.notification) = (timeout, notification)
    }

    /// Returns the iterator, which begins to send when it is made. Call it once.
    @inlinable
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Sends the items and takes their results. A copy continues where the other one is, even if several tasks take results at the same
    /// time. When the last copy is released, what is pending is cancelled.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline let feeding: SendFeeding<Items>

        @inlinable
        init(_ results: SendResults) { feeding = SendFeeding(results) }

        /// Returns the next result; nil after the last one, or when the task is cancelled.
        ///
        /// - Throws: What the sequence of items throws, after the results of the items before.
        @inlinable
        public mutating func next() async throws -> Element? {
            let items = feeding.items
            return try await feeding.collector.next { items.take($0) }
        }
    }
}

/// The task that submits the items. It ends with the iterator.
@usableFromInline final class SendFeeding<Items: AsyncSequence & Sendable>: Sendable where Items.Element: Sendable {
    @usableFromInline let collector: SendCollector
    @usableFromInline let items: SendItems<Items.Element>
    private let task: Task<Void, Never>

    @inlinable
    convenience init(_ results: SendResults<Items>) {
        let collector = SendCollector(results.sender, pending: results.pending, timeout: results.timeout)
        let items = SendItems<Items.Element>(count: results.pending)
        self.init(
            collector, items,
            Task { [isFirst = results.life.begins] in
                guard isFirst else { return collector.refuse() }
                var places: [Int] = []
                do {
                    for try await item in results.items {
                        if places.isEmpty {
                            guard await collector.take(places: &places) else { break }
                        }
                        let place = places.removeLast()
                        items.put(item, place)
                        collector.submit(results.notification(item), at: place)
                    }
                    collector.finish(places, nil)
                } catch {
                    collector.finish(places, error)
                }
            })
    }

    @usableFromInline
    init(_ collector: SendCollector, _ items: SendItems<Items.Element>, _ task: Task<Void, Never>) {
        (self.collector, self.items, self.task) = (collector, items, task)
    }

    deinit {
        task.cancel()
        collector.abandon()
    }
}

/// The items that have places. The locks of the collector and of the mailbox order the accesses to a place.
@safe @usableFromInline final class SendItems<Item: Sendable>: @unchecked Sendable {
    @usableFromInline let places: UnsafeMutableBufferPointer<Item?>

    @inlinable
    init(count: Int) {
        unsafe places = .allocate(capacity: count)
        unsafe places.initialize(repeating: nil)
    }

    deinit {
        unsafe places.deinitialize()
        unsafe places.deallocate()
    }

    @inlinable
    func put(_ item: Item, _ place: Int) { unsafe places[place] = item }

    @inlinable
    func take(_ place: Int) -> Item {
        defer { unsafe places[place] = nil }
        return unsafe places[place]!
    }
}
