import APNSBatchBasics

/// Rows that a program makes while they are read. The program encodes them into the memory from which the reader takes them.
///
/// Threads: one task calls `write`, `waitForRoom`, `finish` and `fail`; the reader thread calls `read`.
package final class RowPipe: ByteSource {
    private struct State {
        /// What the reader lends until it is full, or nothing more comes. The program writes into it behind the lock.
        var window: LentBytes?
        /// The number of bytes in it.
        var filled = 0
        /// Bytes that come before those of the next window: what did not fit into the last one.
        var overflow: [UInt8]
        /// The call of `waitForRoom` that waits.
        var waiting: CheckedContinuation<Void, Never>?
        /// Whether the last read ended because nothing came for a while.
        var isIdle = false
        var ending: Ending?
        var isCancelled = false
        var beginsBehindSpool = false

        var hasRoom: Bool { filled < (window.map { unsafe $0.bytes.count } ?? 0) }

        mutating func takeWaiting() -> CheckedContinuation<Void, Never>? {
            defer { waiting = nil }
            return waiting
        }
    }

    private enum Ending {
        case end
        case failure(String)
    }

    private let delimiter: UInt8
    private let state: Guarded<State>

    /// The time in nanoseconds without a new row after which those that were written are read.
    private static let patience: UInt64 = 100_000_000

    /// - Parameter columns: The names of the columns, in order; at least one, and none empty.
    package init(columns: [String], delimiter: UInt8) {
        self.delimiter = delimiter
        state = Guarded(State(overflow: Self.headerRow(columns, delimiter: delimiter)))
    }

    /// Returns the bytes of a header row.
    static func headerRow(_ columns: [String], delimiter: UInt8) -> [UInt8] {
        let none = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
        var header = unsafe RowEncoder(none, filled: 0, overflow: [], delimiter: delimiter)
        for column in columns { header.append(column) }
        header.endHeader()
        return header.overflow
    }

    // MARK: The program's end

    /// Writes a row. Returns false if there is no room now, and nothing was written; see `waitForRoom`. An error of `encode`
    /// is passed on, and then nothing of the row was written.
    ///
    /// - Throws: `CancellationError` if the run takes no further rows.
    package func write(_ encode: (inout RowEncoder) throws -> Void) throws -> Bool {
        let (isWritten, isFull) = try state.withLock { state in
            if state.isCancelled { throw CancellationError() }
            guard let window = state.window, state.hasRoom else { return (false, false) }
            var encoder = unsafe RowEncoder(
                window.bytes, filled: state.filled, overflow: [], delimiter: delimiter)
            try encode(&encoder)
            encoder.endRow(isBlank: encoder.filled == state.filled)
            state.filled = encoder.filled
            state.overflow = encoder.overflow
            return (true, !state.hasRoom)
        }
        if isFull { state.wakeAll() }
        return isWritten
    }

    /// Returns once there may be room, or the run takes no further rows.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func waitForRoom() async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { call in
                let isOver = state.change { state in
                    if state.hasRoom || state.isCancelled || Task.isCancelled { return true }
                    state.waiting = call
                    return false
                }
                if isOver { call.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeWaiting() }?.resume()
        }
        try Task.checkCancellation()
    }

    /// Says that the first row follows those that an earlier process took.
    package func beginBehindSpool() { state.withLock { $0.beginsBehindSpool = true } }

    var beginsBehindSpool: Bool { state.withLock { $0.beginsBehindSpool } }

    /// Ends the rows.
    package func finish() { end(.end) }

    /// Ends the rows with an error of the program. Rows that were written are read first.
    package func fail(_ cause: String) { end(.failure(cause)) }

    private func end(_ ending: Ending) {
        state.change { state in state.ending = state.ending ?? ending }
    }

    /// Whether the run takes no further rows.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    // MARK: The reader's end

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        if let count = try unsafe lend(buffer) { return count }
        while true {
            let before = state.withLock { $0.filled }
            let count = state.wait(until: SystemClock.monotonic() + Self.patience) { state -> Int? in
                guard !state.hasRoom || state.isCancelled || state.ending != nil else { return nil }
                return state.filled
            }
            if let count { return try takeBack(count, isIdle: false) }
            let now = state.withLock { $0.filled }
            if now > 0, now == before { return try takeBack(nil, isIdle: true) }
        }
    }

    /// Lends memory to the program. Returns the number of bytes if there is something to read without it.
    private func lend(_ buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int? {
        let window = unsafe LentBytes(bytes: buffer)
        let (result, waiting) = state.withLock {
            state -> (Result<Int?, InputError>, CheckedContinuation<Void, Never>?) in
            if state.isCancelled { return (.failure(.cancelled), nil) }
            if !state.overflow.isEmpty {
                let count = unsafe min(state.overflow.count, window.bytes.count)
                unsafe window.bytes.copyBytes(from: state.overflow[..<count])
                state.overflow.removeFirst(count)
                return (.success(count), nil)
            }
            switch state.ending {
            case .end: return (.success(0), nil)
            case .failure(let cause): return (.failure(.ofProgram(cause)), nil)
            case nil: break
            }
            state.window = window
            (state.filled, state.isIdle) = (0, false)
            return (.success(nil), state.takeWaiting())
        }
        waiting?.resume()
        return try result.get()
    }

    /// Ends the loan. Returns the number of bytes that the program has written.
    private func takeBack(_ count: Int?, isIdle: Bool) throws(InputError) -> Int {
        let (filled, isCancelled, ending) = state.withLock { state in
            state.window = nil
            state.isIdle = isIdle
            return (state.filled, state.isCancelled, state.ending)
        }
        if isCancelled { throw .cancelled }
        if filled == 0, case .failure(let cause) = ending { throw .ofProgram(cause) }
        return filled
    }

    func isFlowing() -> Bool {
        let isFlowing = state.wait(until: SystemClock.monotonic() + Self.patience) { state -> Bool? in
            if state.isIdle { return false }
            return state.waiting != nil || !state.overflow.isEmpty || state.ending != nil || state.isCancelled
                ? true : nil
        }
        return isFlowing ?? false
    }

    package func cancel() {
        let waiting = state.change { state in
            state.isCancelled = true
            return state.takeWaiting()
        }
        waiting?.resume()
    }
}
