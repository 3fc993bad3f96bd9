import Glibc

/// A value behind a lock, for what threads share off the way of a row.
///
/// It uses the system's mutex, which the thread sanitizer understands. The sanitizer does not understand
/// `Synchronization.Mutex` when threads contend for it.
package final class Guarded<Value: ~Copyable>: @unchecked Sendable {
    /// Accessed only while `mutex` is held.
    private var value: Value
    private let mutex = SystemMutex()

    package init(_ value: consuming sending Value) { self.value = value }

    /// Holds the lock for the length of `body`, which must not take the same lock again.
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        mutex.lock()
        defer { mutex.unlock() }
        return try body(&value)
    }

    /// The same as `withLock`, or nil at once while another thread holds the lock.
    package func withLockIfAvailable<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result? {
        guard mutex.tryLock() else { return nil }
        defer { mutex.unlock() }
        return body(&value)
    }
}

/// A value behind a lock, on whose changes threads can wait.
package final class Monitor<Value>: @unchecked Sendable {
    /// Accessed only while `mutex` is held.
    private var value: Value
    private let mutex = SystemMutex()
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ value: sending Value) {
        self.value = value
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        check(pthread_cond_init(condition, &attributes))
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    /// Holds the lock for the length of `body`, which must not take the same lock again. Wakes nobody.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        mutex.lock()
        defer { mutex.unlock() }
        return body(&value)
    }

    /// Changes the value and wakes every thread that waits.
    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        defer { wakeAll() }
        return withLock(body)
    }

    /// Calls `body` under the lock, again after each change of the value, until it returns a result or the time has come.
    ///
    /// - Parameter deadline: nanoseconds of the monotonic clock; nil to wait without end.
    /// - Returns: nil when the time came first.
    package func wait<Result>(until deadline: UInt64? = nil, _ body: (inout Value) -> Result?) -> Result? {
        mutex.lock()
        defer { mutex.unlock() }
        var time = timespec()
        if let deadline {
            time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        }
        while true {
            if let result = body(&value) { return result }
            guard deadline != nil else {
                check(pthread_cond_wait(condition, mutex.pointer))
                continue
            }
            let code = pthread_cond_timedwait(condition, mutex.pointer, &time)
            if code == ETIMEDOUT { return body(&value) }
            check(code)
        }
    }

    /// Wakes every thread that waits, so that each looks at the value again.
    package func wakeAll() { pthread_cond_broadcast(condition) }
}

/// A mutex of the system.
struct SystemMutex: ~Copyable {
    let pointer = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { check(pthread_mutex_init(pointer, nil)) }

    deinit {
        pthread_mutex_destroy(pointer)
        pointer.deallocate()
    }

    func lock() { check(pthread_mutex_lock(pointer)) }
    func unlock() { check(pthread_mutex_unlock(pointer)) }
    func tryLock() -> Bool { pthread_mutex_trylock(pointer) == 0 }
}

private func check(_ code: Int32) { precondition(code == 0, "a lock was misused, or the system lacks memory for one") }
