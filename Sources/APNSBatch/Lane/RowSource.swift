import CSVReader
import Glibc

/// A lane's end of the input: one row at a time out of the chunks that the reader hands over. Never waits.
struct RowSource: ~Copyable {
    private let queue: BoundedQueue<CSVChunk>
    private var cursor: CSVRowCursor
    private var chunk: CSVChunk?
    private var isPending = false
    private(set) var isExhausted = false
    /// Takes nothing from the reader: others do.
    var isHeld = false
    /// The row that `hasRow` found; valid until `consume`.
    private(set) var row = CSVRow()
    /// Seconds since the epoch, some milliseconds old.
    private(set) var wallClock: UInt64
    private let seconds: @Sendable () -> UInt64

    /// - Parameter seconds: the time of day.
    init(queue: BoundedQueue<CSVChunk>, cursor: consuming CSVRowCursor, seconds: @escaping @Sendable () -> UInt64) {
        self.queue = queue
        self.cursor = cursor
        self.seconds = seconds
        wallClock = seconds()
    }

    /// Whether there is a row now. False may mean that the reader has none yet or that the input has ended
    /// (`isExhausted`).
    mutating func hasRow() -> Bool {
        if isPending { return true }
        while true {
            if chunk != nil {
                if cursor.next(into: &row) {
                    isPending = true
                    return true
                }
                chunk?.recycle()
                chunk = nil
            }
            guard takeChunk() else { return false }
        }
    }

    /// The row is done with; its fields are valid no more.
    mutating func consume() { isPending = false }

    private mutating func takeChunk() -> Bool {
        guard !isExhausted, !isHeld else { return false }
        switch queue.tryPop() {
        case .element(let next):
            chunk = next
            cursor.open(next)
            return true
        case .nothingYet: return false
        case .closed:
            isExhausted = true
            return false
        }
    }

    /// Gives up what was not taken.
    mutating func abandon() {
        isExhausted = true
        isPending = false
        chunk?.recycle()
        chunk = nil
    }

    mutating func refreshClock() { wallClock = seconds() }
}

/// The time of day; a lane reads it a few times a second and passes it on.
enum WallClock {
    static func seconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return UInt64(now.tv_sec)
    }

    /// Monotonic seconds, for durations.
    static func monotonic() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
