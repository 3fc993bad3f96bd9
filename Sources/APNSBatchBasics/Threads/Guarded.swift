import Glibc

/// A value protected by a lock. Threads can wait for changes of the value. It is not used on the path of a row.
///
/// The value must not be a function itself, but may have members that are functions: Swift wraps a function in two more whenever its
/// address is passed to code that is generic, so that each look at it would make it longer. `scripts/check-layering` refuses it.
///
/// It uses a pthread mutex because ThreadSanitizer does not understand `Synchronization.Mutex` under contention.
@safe
@usableFromInline
package final class Guarded<Value: ~Copyable>: @unchecked Sendable {
    /// Accessed only while `mutex` is held. Not a stored property, whose every access Swift would check for exclusivity.
    @usableFromInline let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ value: consuming sending Value) {
        unsafe self.value.initialize(to: value)
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
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }

    /// Calls `body` with the lock held. `body` must not take the same lock again. Does not wake waiting threads.
    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock()
        defer { unlock() }
        return try unsafe body(&value.pointee)
    }

    /// Like `withLock`, but returns nil without waiting if another thread holds the lock.
    package func withLockIfAvailable<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result? {
        guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { unlock() }
        return unsafe body(&value.pointee)
    }

    /// Changes the value with the lock held, and wakes all waiting threads.
    package func change<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
        defer { wakeAll() }
        return withLock(body)
    }

    /// Calls `body` with the lock held, and again after each change of the value, until it returns a result or the
    /// deadline passes.
    ///
    /// - Parameter deadline: A time on the monotonic clock, in nanoseconds; nil for no limit.
    /// - Returns: The result of `body`, or nil if the deadline passed first.
    package func wait<Result>(
        until deadline: UInt64? = nil, _ body: (inout sending Value) -> sending Result?
    ) -> sending Result? {
        lock()
        defer { unlock() }
        var time = timespec()
        if let deadline {
            time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        }
        while true {
            if let result = unsafe body(&value.pointee) { return result }
            guard deadline != nil else {
                unsafe check(pthread_cond_wait(condition, mutex))
                continue
            }
            let code = unsafe pthread_cond_timedwait(condition, mutex, &time)
            if code == ETIMEDOUT { return unsafe body(&value.pointee) }
            check(code)
        }
    }

    /// Wakes all waiting threads, so that they check the value again.
    package func wakeAll() { unsafe pthread_cond_broadcast(condition) }

    @usableFromInline func lock() { unsafe check(pthread_mutex_lock(mutex)) }

    @usableFromInline func unlock() { unsafe check(pthread_mutex_unlock(mutex)) }
}

private func check(_ code: Int32) { precondition(code == 0, "a lock was misused, or the system lacks memory for one") }
