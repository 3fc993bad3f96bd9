import Glibc

extension stat {
    /// When the file was last modified, in nanoseconds since 1970-01-01 00:00 UTC. A time beyond the year 2500 is as good as none.
    package var modifiedNanoseconds: UInt64 {
        let seconds = UInt64(max(0, st_mtim.tv_sec)).multipliedReportingOverflow(by: 1_000_000_000)
        return (seconds.overflow ? 0 : seconds.partialValue) &+ UInt64(max(0, st_mtim.tv_nsec))
    }
}
