import CAPNSZlib

/// Unpacks gzip with zlib. Members may follow each other, as `cat one.gz two.gz` makes them, and zero bytes may follow the last one,
/// as tapes are padded.
@safe final class GzipUnpacker: Unpacker {
    /// zlib keeps its address, so it must not move.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var place = Place.start

    private enum Place {
        /// Before the first member.
        case start
        case inside
        case between
        /// In the zero bytes after the last member.
        case padding
    }

    init() {
        unsafe stream.initialize(to: z_stream())
        // 15 is the largest window, 32 KiB; 16 more select gzip. It fails only if there is no memory, which `unpack` then reports.
        _ = unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    var mayEnd: Bool {
        switch place {
        case .between, .padding: true
        case .start, .inside: false
        }
    }

    func reset() {
        unsafe inflateReset(stream)
        place = .start
    }

    func unpack(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(PackingFault) -> (taken: Int, made: Int) {
        guard let first = unsafe input.first else { return unsafe (0, try inflate(input, output).made) }
        switch place {
        case .between where first == 0: place = .padding
        case .between where first == 0x1F:
            unsafe inflateReset(stream)
            place = .inside
        case .between: throw .trailing
        case .start: place = .inside
        case .inside, .padding: break
        }
        guard case .padding = place else { return unsafe try inflate(input, output) }
        guard unsafe input.allSatisfy({ $0 == 0 }) else { throw .trailing }
        return (input.count, 0)
    }

    private func inflate(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) throws(PackingFault) -> (taken: Int, made: Int) {
        guard case .inside = place else { return (0, 0) }
        unsafe stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        unsafe stream.pointee.avail_in = UInt32(clamping: input.count)
        unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(clamping: output.count)
        let (given, room) = unsafe (stream.pointee.avail_in, stream.pointee.avail_out)
        let code = unsafe CAPNSZlib.inflate(stream, Z_NO_FLUSH)
        let count = unsafe (Int(given - stream.pointee.avail_in), Int(room - stream.pointee.avail_out))
        switch code {
        case Z_STREAM_END: place = .between
        // Z_BUF_ERROR means that there was nothing to do without more input or room.
        case Z_OK, Z_BUF_ERROR: break
        case Z_MEM_ERROR, Z_STREAM_ERROR: throw .noMemory
        case Z_NEED_DICT: throw .damaged("a preset dictionary is needed")
        default: throw .damaged(unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "invalid data")
        }
        return count
    }
}
