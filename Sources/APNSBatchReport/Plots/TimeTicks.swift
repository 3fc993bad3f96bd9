/// The times of day below a plot.
enum TimeTicks {
    /// The distances between two of them, in seconds: those that divide a minute, an hour or a day.
    private static let steps: [Int64] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    ]

    /// Labels with seconds are so long that fewer fit.
    private static func step(_ seconds: Int64, most: Int64, mostOfSeconds: Int64) -> Int64 {
        func step(_ most: Int64) -> Int64 {
            let wanted = seconds / most + 1
            return steps.first { $0 >= wanted } ?? (wanted / 86_400 + 1) * 86_400
        }
        return step(most) < 60 ? step(mostOfSeconds) : step(most)
    }

    /// Returns round times of local time within an interval.
    ///
    /// - Parameters:
    ///   - begin: The start of the interval, in milliseconds since 1970-01-01 00:00 UTC.
    ///   - seconds: Its length.
    ///   - most: The maximum number of ticks, unless the interval has many days.
    static func ticks(from begin: Int64, seconds: Int64, in time: LocalTime, most: Int64 = 9) -> [PlotTick] {
        let step = step(seconds, most: most, mostOfSeconds: most * 5 / 9)
        var ticks: [PlotTick] = []
        let local = begin / 1000 + time.offset(at: begin / 1000)
        var next = (local + step - 1) / step * step
        let last = local + seconds
        while next <= last, ticks.count < 50 {
            let position = Double((next - local) * 1000 - begin % 1000) / Double(seconds * 1000)
            let clock = time.clock(begin / 1000 + next - local)
            if position >= 0 {
                // On a narrow screen every other one is left out.
                ticks.append(
                    PlotTick(
                        position: position, label: step % 60 == 0 ? String(clock.prefix(5)) : clock,
                        isMinor: ticks.count % 2 == 1))
            }
            next += step
        }
        return ticks
    }
}
