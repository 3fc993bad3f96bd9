import Glibc

/// Which buffers are free. The reader's thread takes, any thread gives back.
final class ChunkPool: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    // Under the mutex.
    private var free: [Int]
    private var isFree: [Bool]
    private var isCancelled = false

    init(count: Int) {
        mutex = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        free = Array((0..<count).reversed())
        isFree = Array(repeating: true, count: count)
        precondition(pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(changed, nil) == 0)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// The buffer given back last, which is the warmest in the caches. Waits while there is none; nil when cancelled.
    func take() -> Int? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while free.isEmpty, !isCancelled {
            pthread_cond_wait(changed, mutex)
        }
        if isCancelled { return nil }
        let index = free.removeLast()
        isFree[index] = false
        return index
    }

    var freeCount: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return free.count
    }

    /// Waits until so many are free; false when cancelled.
    func wait(for count: Int) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while free.count < count, !isCancelled { pthread_cond_wait(changed, mutex) }
        return !isCancelled
    }

    /// - Precondition: the buffer is out.
    func release(_ index: Int) {
        pthread_mutex_lock(mutex)
        precondition(!isFree[index], "a chunk was recycled twice")
        isFree[index] = true
        free.append(index)
        pthread_cond_signal(changed)
        pthread_mutex_unlock(mutex)
    }

    func cancel() {
        pthread_mutex_lock(mutex)
        isCancelled = true
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(mutex)
    }
}
