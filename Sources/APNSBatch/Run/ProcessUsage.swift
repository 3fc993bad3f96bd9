import Glibc

/// What this process has used so far.
enum ProcessUsage {
    private static func usage() -> rusage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage
    }

    /// User and system time of all threads, in seconds.
    static var cpuSeconds: Double {
        let usage = usage()
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    /// The largest resident set, in bytes.
    static var peakRSSBytes: UInt64 { UInt64(usage().ru_maxrss) * 1024 }
}
