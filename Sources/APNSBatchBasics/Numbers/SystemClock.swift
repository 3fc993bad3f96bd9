import Glibc

/// The clocks of the system.
package enum SystemClock {
    /// The monotonic time, in nanoseconds.
    package static func monotonic() -> UInt64 { now(CLOCK_MONOTONIC) }

    /// The monotonic time, in seconds.
    package static func monotonicSeconds() -> Double { Double(monotonic()) / 1e9 }

    /// The processor time of the calling thread, in nanoseconds.
    package static func threadTime() -> UInt64 { now(CLOCK_THREAD_CPUTIME_ID) }

    /// The current time, in seconds since 1970-01-01 00:00 UTC.
    package static func seconds() -> UInt64 { now(CLOCK_REALTIME) / 1_000_000_000 }

    /// The current time, in milliseconds since 1970-01-01 00:00 UTC.
    package static func milliseconds() -> Int64 { Int64(now(CLOCK_REALTIME) / 1_000_000) }

    private static func now(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Returns the message for an error number of the system, `errno` by default.
package func systemMessage(_ code: Int32 = errno) -> String { unsafe String(cString: strerror(code)) }
