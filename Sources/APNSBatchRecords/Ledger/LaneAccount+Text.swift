import APNSBatchModel

/// The counters of lanes, as the text of a record of figures:
///
///     longest answer (µs, 32 bits), number of retries, of ends of connections, of times (32 bits each)
///     retries and ends: number (64 bits), length (16), cause
///     times: µs (64 bits), answers (64)
extension LaneAccount {
    /// The maximum length in bytes. There are few causes with short names, and a histogram has some thousand times.
    static let textMax = 192 * 1024

    /// Writes the counters without allocating memory, and returns the length in bytes.
    ///
    /// - Parameter text: memory of at least `textMax` bytes.
    func write(to text: UnsafeMutableRawPointer) -> Int {
        var writer = unsafe Writer(at: text)
        writer.add(answerTimes.longest)
        writer.add(UInt32(retries.count))
        writer.add(UInt32(connectionEnds.count))
        let numberOfTimes = writer.count
        writer.add(UInt32(0))
        for (cause, number) in retries { writer.add(cause, number) }
        for (cause, number) in connectionEnds { writer.add(cause, number) }
        var times: UInt32 = 0
        answerTimes.forEach { time, count in
            writer.add(UInt64(time))
            writer.add(count)
            times += 1
        }
        unsafe text.storeBytes(of: times.littleEndian, toByteOffset: numberOfTimes, as: UInt32.self)
        precondition(writer.count <= Self.textMax)
        return writer.count
    }

    /// Returns nil if the text is malformed. Bytes after the known fields are ignored, because later versions may add
    /// fields.
    package init?(text: UnsafeRawBufferPointer) {
        self.init()
        var reader = unsafe Reader(text)
        guard let longest = reader.next(UInt32.self), let numberOfRetries = reader.next(UInt32.self),
            let numberOfEnds = reader.next(UInt32.self), let numberOfTimes = reader.next(UInt32.self)
        else { return nil }
        for _ in 0..<numberOfRetries {
            guard let (cause, number) = reader.nextCause() else { return nil }
            retries[cause, default: 0] &+= number
        }
        for _ in 0..<numberOfEnds {
            guard let (cause, number) = reader.nextCause() else { return nil }
            connectionEnds[cause, default: 0] &+= number
        }
        for _ in 0..<numberOfTimes {
            guard let time = reader.next(UInt64.self), let count = reader.next(UInt64.self) else { return nil }
            answerTimes.note(UInt32(min(time, UInt64(longest))), count: count)
        }
        answerTimes.note(longest: longest)
    }

    @safe private struct Writer {
        let at: UnsafeMutableRawPointer
        var count = 0

        init(at: UnsafeMutableRawPointer) { unsafe self.at = unsafe at }

        mutating func add<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
            unsafe (at + count).storeBytes(of: number.littleEndian, as: Number.self)
            count += MemoryLayout<Number>.size
        }

        mutating func add(_ cause: String, _ number: UInt64) {
            add(number)
            var cause = cause
            cause.withUTF8 { bytes in
                add(UInt16(bytes.count))
                unsafe (at + count).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
                count += bytes.count
            }
        }
    }

    @safe private struct Reader {
        private let bytes: UnsafeRawBufferPointer
        private var at = 0

        init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = unsafe bytes }

        mutating func next<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type) -> Number? {
            guard unsafe bytes.count - at >= MemoryLayout<Number>.size else { return nil }
            defer { at += MemoryLayout<Number>.size }
            return unsafe Number(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Number.self))
        }

        mutating func nextCause() -> (String, UInt64)? {
            guard let number = next(UInt64.self), let length = next(UInt16.self), unsafe bytes.count - at >= length
            else {
                return nil
            }
            defer { at += Int(length) }
            return unsafe (String(decoding: bytes[at..<(at + Int(length))], as: UTF8.self), number)
        }
    }
}
