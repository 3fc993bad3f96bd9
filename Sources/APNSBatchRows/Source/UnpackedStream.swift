/// Unpacks the bytes of a source from its start on. Only one thread at a time may use it.
@safe final class UnpackedStream {
    private let origin: any ByteSource
    private let windowLog: Int
    /// Bytes of the origin that were not unpacked yet: those from `next` to `end` of `room`.
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: inputBytes, alignment: 16)
    private var next = 0
    private var end = 0
    /// The number of bytes that were taken from the origin.
    private var fetched: UInt64 = 0
    private var state = State.open
    /// The number of bytes that were made.
    private(set) var position: UInt64 = 0
    /// Whether the unpacker may have more to give without further input.
    private var isFull = false
    /// The table of a file of zstd frames, looked for when it is first needed.
    private var table: SeekTable??

    private static let inputBytes = 128 << 10

    private enum State {
        /// It is determined by the first bytes.
        case open
        case plain
        case packed(Packing, any Unpacker)
    }

    init(_ origin: any ByteSource, windowLog: Int) {
        self.origin = origin
        self.windowLog = windowLog
    }

    deinit { unsafe room.deallocate() }

    var packing: Packing? { if case .packed(let packing, _) = state { packing } else { nil } }

    /// The number of bytes of the origin that were used.
    var offset: UInt64 { fetched - UInt64(end - next) }

    /// Whether something can be read without the origin.
    var hasInput: Bool { next < end || isFull }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        try decide()
        guard case .packed(let packing, let unpacker) = state else { return try unsafe copy(into: buffer) }
        while true {
            if next == end, !isFull, try fetch() == 0 {
                guard unpacker.mayEnd else { throw .cannotUnpack(packing, .truncated, at: offset) }
                return 0
            }
            let made = try unsafe unpack(packing, unpacker, into: buffer)
            if made > 0 { return made }
        }
    }

    private func unpack(
        _ packing: Packing, _ unpacker: any Unpacker, into buffer: UnsafeMutableRawBufferPointer
    ) throws(InputError) -> Int {
        do throws(PackingFault) {
            let (taken, made) = try unsafe unpacker.unpack(
                UnsafeRawBufferPointer(rebasing: room[next..<end]), into: buffer)
            guard taken > 0 || made > 0 || isFull else { throw PackingFault.damaged("it leads nowhere") }
            next += taken
            isFull = made == buffer.count
            position += UInt64(made)
            return made
        } catch {
            throw .cannotUnpack(packing, error, at: offset)
        }
    }

    /// Finds out whether the origin is packed.
    private func decide() throws(InputError) {
        guard case .open = state else { return }
        var isWhole = false
        while true {
            switch unsafe Packing.guess(Array(room[next..<end]), isWhole: isWhole) {
            case .plain:
                state = .plain
                return
            case .packed(let packing):
                state = .packed(packing, packing.makeUnpacker(windowLog: windowLog))
                return
            case .open: isWhole = try fetch() == 0
            }
        }
    }

    /// Takes more bytes from the origin. Returns 0 at its end.
    private func fetch() throws(InputError) -> Int {
        if next == end { (next, end) = (0, 0) }
        let free = unsafe UnsafeMutableRawBufferPointer(rebasing: room[end...])
        let count = try unsafe take(free)
        end += count
        fetched += UInt64(count)
        return count
    }

    private func take(_ free: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        guard origin.canReadAgain, let size = origin.size else { return try unsafe origin.read(into: free) }
        let count = Int(min(UInt64(free.count), size - min(size, fetched)))
        guard count > 0 else { return 0 }
        guard try unsafe origin.read(at: fetched, into: UnsafeMutableRawBufferPointer(rebasing: free[..<count])) else {
            throw .changedWhileRead(bytesAtOpen: size, bytesRead: fetched)
        }
        return count
    }

    private func copy(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        let count = min(end - next, buffer.count)
        guard count > 0 else {
            let count = try unsafe take(buffer)
            fetched += UInt64(count)
            position += UInt64(count)
            return count
        }
        unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: room[next..<(next + count)]))
        next += count
        position += UInt64(count)
        return count
    }

    /// Fills the buffer. Returns whether there were as many bytes.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Bool {
        var filled = 0
        while filled < buffer.count {
            let count = try unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            if count == 0 { return false }
            filled += count
        }
        return true
    }

    /// Moves to an offset: to the frame that has it, if a table has its place; else forward by unpacking, and backward by
    /// beginning again.
    ///
    /// - Throws: `InputError.cancelled` when `isCancelled` is true, and the errors of `read`.
    func move(to target: UInt64, isCancelled: () -> Bool) throws(InputError) {
        try jump(towards: target)
        guard target > position else { return }
        let scrap = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { unsafe scrap.deallocate() }
        while position < target {
            if isCancelled() { throw .cancelled }
            let count = Int(min(UInt64(scrap.count), target - position))
            // An input that has become shorter ends here, and the caller finds that its rows are missing.
            if try unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: scrap[..<count])) == 0 { return }
        }
    }

    /// Moves to a place before the target from which it is reached by unpacking: one from which it is not far, if there is a table.
    private func jump(towards target: UInt64) throws(InputError) {
        guard target != position else { return }
        let place = try place(before: target)
        guard target < position || place.unpacked > position else { return }
        (next, end, isFull) = (0, 0, false)
        (fetched, position) = (place.packed, place.unpacked)
        if case .packed(_, let unpacker) = state { unpacker.reset() }
    }

    private func place(before target: UInt64) throws(InputError) -> SeekTable.Place {
        guard packing == .zstd, origin.canReadAgain else { return SeekTable.Place() }
        if table == nil { table = .some(try SeekTable(origin)) }
        guard case .some(.some(let table)) = table else { return SeekTable.Place() }
        return try table.place(of: target, in: origin)
    }
}
