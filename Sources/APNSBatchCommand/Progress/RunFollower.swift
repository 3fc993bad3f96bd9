import APNSBatch
import APNSBatchBasics
import ArgumentParser
import Foundation

/// Shows the timeline of a run while a process works on it, once a second.
struct RunFollower {
    let directory: String
    let json: Bool

    private var window = TimelineWindow()
    private var reader: TimelineReader?
    private let isStopped = Guarded(false)
    private let screen: Screen?
    /// The number of seconds until the next line, where there is no screen.
    private var secondsToLine = 0

    /// The number of seconds between two lines.
    private static let lineInterval = 10

    init(_ directory: String, json: Bool) {
        (self.directory, self.json) = (directory, json)
        screen = !json && Screen.isAvailable ? Screen() : nil
    }

    /// Follows the run until no process works on it any more, or until SIGINT, SIGTERM or SIGQUIT.
    ///
    /// - Returns: Whether the run has ended.
    /// - Throws: ``CampaignError`` if the run cannot be read, and an exit code if standard output cannot be written.
    mutating func follow() throws -> Bool {
        // The points are read after this question, so that the last one is not missed.
        var isRunning = try RunStatus.isRunning(directory)
        Signals.onStop { [isStopped] _ in isStopped.change { $0 = true } }
        screen?.begin()
        defer { end() }
        while true {
            try show(try newPoints(), isLast: !isRunning)
            if !isRunning { return true }
            if isOver(after: 1_000_000_000) { return false }
            isRunning = try RunStatus.isRunning(directory)
        }
    }

    /// Returns the points since the last call. A run that has just begun may have no timeline yet. Of what was recorded
    /// before the first call, only the last point is returned, and others are added to the window.
    private mutating func newPoints() throws -> [TimelinePoint] {
        if reader != nil { return try reader?.read() ?? [] }
        reader = try? TimelineReader(of: directory, last: TimelineWindow.capacity)
        let points = try reader?.read() ?? []
        window.add(points.dropLast())
        return points.suffix(1)
    }

    private mutating func show(_ points: [TimelinePoint], isLast: Bool) throws {
        for point in points {
            window.add([point])
            if json { Output.line(try JSONLine.text(TimelineLine(point, in: window))) }
        }
        if let screen { screen.draw(lines) } else if !json { printLine(isLast: isLast) }
        guard Output.isComplete() else { throw ExitStatus.interrupted }
    }

    private var lines: [String] {
        TimelineView.screen(
            window, directory: directory, now: SystemClock.milliseconds(), width: screen?.width ?? 80,
            isUTF8: Screen.isUTF8)
    }

    private mutating func printLine(isLast: Bool) {
        if secondsToLine == 0 || isLast {
            Output.line(TimelineView.line(window))
            secondsToLine = Self.lineInterval
        }
        secondsToLine -= 1
    }

    /// Leaves the screen, and keeps what it showed last.
    private func end() {
        guard let screen else { return }
        screen.end()
        Output.lines(lines)
    }

    /// Waits, and returns whether a signal has asked for the end meanwhile.
    private func isOver(after nanoseconds: UInt64) -> Bool {
        isStopped.wait(until: SystemClock.monotonic() + nanoseconds) { $0 ? true : nil } ?? false
    }
}
