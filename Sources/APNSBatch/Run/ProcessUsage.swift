import APNSBatchBasics
import Glibc

/// The resources that this process has used so far.
enum ProcessUsage {
    private static func usage() -> rusage {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage
    }

    /// The user and system time of all threads, in seconds.
    static var cpuSeconds: Double {
        let usage = usage()
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    /// The resident set size, in bytes; 0 if the system does not report it.
    static var rssBytes: UInt64 {
        (residentPages(in: text(of: "/proc/self/statm")) ?? 0) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Returns the second number of `/proc/self/statm`; nil if there is none.
    static func residentPages(in statm: String) -> UInt64? {
        statm.utf8.split(separator: UInt8(ascii: " ")).dropFirst().first.flatMap { UInt64(Substring($0)) }
    }

    /// The largest resident set size, in bytes. It is read from `/proc/self/status`, since `getrusage` returns the size of
    /// the parent process if that was larger when it started this one.
    static var peakRSSBytes: UInt64 {
        highWaterMark(in: text(of: "/proc/self/status")) ?? UInt64(usage().ru_maxrss) * 1024
    }

    /// Returns the text of a small file; an empty one if it cannot be read.
    private static func text(of path: String) -> String {
        String(decoding: (try? OpenFile.content(of: path, most: 8192)) ?? [], as: UTF8.self)
    }

    /// Returns the value of `VmHWM` in bytes; nil if the text does not contain it.
    static func highWaterMark(in status: String) -> UInt64? {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let number = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first,
            let kibibytes = UInt64(number)
        else { return nil }
        return kibibytes * 1024
    }
}
