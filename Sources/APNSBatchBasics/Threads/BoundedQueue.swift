import Glibc

/// Hands batches from thread to thread: bounded, blocking on the side that may wait, never on a lane that may not.
///
/// Elements are batches of thousands of rows, so a lock per hand-over costs nothing that can be measured.
final class BoundedQueue<Element: Sendable>: @unchecked Sendable {
    // Guarded by mutex.
    private var elements: [Element] = []
    private var head = 0
    private var isClosed = false

    /// So many elements that were taken may stand before the first.
    private static var takenMax: Int { 64 }

    private let capacity: Int
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    init(capacity: Int) {
        self.capacity = capacity
        elements.reserveCapacity(capacity + Self.takenMax)
        mutex = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(changed)
        mutex.deallocate()
        changed.deallocate()
    }

    private func locked<R>(_ body: () -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    private var count: Int { elements.count - head }

    private func removeFirst() -> Element {
        let element = elements[head]
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= Self.takenMax {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Waits for room; false when the queue was closed and the element was not taken.
    @discardableResult
    func push(_ element: Element) -> Bool {
        locked {
            while count >= capacity && !isClosed { pthread_cond_wait(changed, mutex) }
            guard !isClosed else { return false }
            elements.append(element)
            pthread_cond_broadcast(changed)
            return true
        }
    }

    /// Waits for an element; nil when the queue is closed and empty.
    func pop() -> Element? {
        locked {
            while count == 0 && !isClosed { pthread_cond_wait(changed, mutex) }
            guard count > 0 else { return nil }
            pthread_cond_broadcast(changed)
            return removeFirst()
        }
    }

    var isEmpty: Bool { locked { count == 0 } }

    /// Waits for an element until a time: nanoseconds of the monotonic clock.
    func pop(until deadline: UInt64) -> Taken {
        locked {
            var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
            while count == 0 && !isClosed {
                if pthread_cond_timedwait(changed, mutex, &time) == ETIMEDOUT { break }
            }
            guard count > 0 else { return isClosed ? .closed : .nothingYet }
            pthread_cond_broadcast(changed)
            return .element(removeFirst())
        }
    }

    /// What a `tryPop` found.
    enum Taken {
        case element(Element)
        case nothingYet
        case closed
    }

    /// Never waits.
    func tryPop() -> Taken {
        locked {
            guard count > 0 else { return isClosed ? .closed : .nothingYet }
            pthread_cond_broadcast(changed)
            return .element(removeFirst())
        }
    }

    /// No more elements come; those inside are still handed out.
    func close() {
        locked {
            isClosed = true
            pthread_cond_broadcast(changed)
        }
    }
}
