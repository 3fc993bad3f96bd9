import APNSBatch
import APNSBatchBasics
import Glibc

/// Measures a piece of work: once to warm up, then some times over.
enum Repetitions {
    /// What a time is taken of.
    enum Clock {
        /// The thread's processor time, which other processes hardly disturb.
        case processor
        /// Real time, for what waits for the disk.
        case wall

        /// Nanoseconds.
        func now() -> UInt64 {
            switch self {
            case .processor: return SystemClock.threadTime()
            case .wall:
                var time = timespec()
                clock_gettime(CLOCK_MONOTONIC, &time)
                return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
            }
        }
    }

    static let count = 7

    /// The median, in nanoseconds.
    ///
    /// - Parameter preparation: before each repetition, not measured.
    static func median(
        _ clock: Clock = .processor, preparation: () throws -> Void = {}, work: () throws -> Void
    ) throws -> Double {
        var times: [UInt64] = []
        for _ in 0...count {
            try preparation()
            let begin = clock.now()
            try work()
            times.append(clock.now() - begin)
        }
        return median(times.dropFirst())
    }

    /// At least one nanosecond: clocks have steps.
    static func median(_ times: some Sequence<UInt64>) -> Double {
        let sorted = times.sorted()
        return Double(max(1, sorted[sorted.count / 2]))
    }
}
