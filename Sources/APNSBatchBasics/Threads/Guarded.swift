import Glibc

/// A value behind a lock, for what threads share off the way of a row. Threads can wait for its changes.
///
/// It uses the system's mutex, which the thread sanitizer understands. The sanitizer does not understand
/// `Synchronization.Mutex` when threads contend for it.
@safe
package final class Guarded<Value: ~Copyable>: @unchecked Sendable {
    /// Accessed only while `mutex` is held.
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ value: consuming sending Value) {
        self.value = value
        unsafe check(pthread_mutex_init(mutex, nil))
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe check(pthread_cond_init(condition, &attributes))
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Holds the lock for the length of `body`, which must not take the same lock again. Wakes nobody.
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe check(pthread_mutex_lock(mutex))
        defer { unlock() }
        return try body(&value)
    }

    /// The same as `withLock`, or nil at once while another thread holds the lock.
    package func withLockIfAvailable<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result? {
        guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { unlock() }
        return body(&value)
    }

    /// Changes the value and wakes every thread that waits.
    package func change<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
        defer { wakeAll() }
        return withLock(body)
    }

    /// Calls `body` under the lock, again after each change of the value, until it returns a result or the time has come.
    ///
    /// - Parameter deadline: nanoseconds of the monotonic clock; nil to wait without end.
    /// - Returns: nil when the time came first.
    package func wait<Result>(
        until deadline: UInt64? = nil, _ body: (inout sending Value) -> sending Result?
    ) -> sending Result? {
        unsafe check(pthread_mutex_lock(mutex))
        defer { unlock() }
        var time = timespec()
        if let deadline {
            time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        }
        while true {
            if let result = body(&value) { return result }
            guard deadline != nil else {
                unsafe check(pthread_cond_wait(condition, mutex))
                continue
            }
            let code = unsafe pthread_cond_timedwait(condition, mutex, &time)
            if code == ETIMEDOUT { return body(&value) }
            check(code)
        }
    }

    /// Wakes every thread that waits, so that each looks at the value again.
    package func wakeAll() { unsafe pthread_cond_broadcast(condition) }

    private func unlock() { unsafe check(pthread_mutex_unlock(mutex)) }
}

private func check(_ code: Int32) { precondition(code == 0, "a lock was misused, or the system lacks memory for one") }
