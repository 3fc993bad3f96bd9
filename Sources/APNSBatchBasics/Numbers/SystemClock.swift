import Glibc

/// The clocks of the system.
package enum SystemClock {
    /// Nanoseconds of the monotonic clock.
    package static func monotonic() -> UInt64 { now(CLOCK_MONOTONIC) }

    /// Seconds of the monotonic clock.
    package static func monotonicSeconds() -> Double { Double(monotonic()) / 1e9 }

    /// Nanoseconds of processor time of the calling thread.
    package static func threadTime() -> UInt64 { now(CLOCK_THREAD_CPUTIME_ID) }

    /// The time of day: seconds since 1970-01-01 00:00 UTC.
    package static func seconds() -> UInt64 { now(CLOCK_REALTIME) / 1_000_000_000 }

    /// The time of day: milliseconds since 1970-01-01 00:00 UTC.
    package static func milliseconds() -> Int64 { Int64(now(CLOCK_REALTIME) / 1_000_000) }

    private static func now(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// The text of an error number of the system, by default the current one.
package func systemMessage(_ code: Int32 = errno) -> String { unsafe String(cString: strerror(code)) }
