/// How the bytes of an input are compressed.
package enum Packing: String, Sendable, CaseIterable {
    /// Members of RFC 1952, one after the other.
    case gzip
    /// Frames of RFC 8878, one after the other; skippable frames are skipped.
    case zstd

    /// The number of first bytes that identify the packing.
    static let bytesWanted = 4

    /// Whether an input that begins with some bytes may be packed in this way, judged by them.
    private func mayBegin(with start: ArraySlice<UInt8>) -> Bool {
        switch self {
        case .gzip: return zip(start, [0x1F, 0x8B] as [UInt8]).allSatisfy { $0 == $1 }
        case .zstd:
            let isFrame = zip(start, [0x28, 0xB5, 0x2F, 0xFD] as [UInt8]).allSatisfy { $0 == $1 }
            let isSkippable = zip(start, [0x50, 0x2A, 0x4D, 0x18] as [UInt8]).enumerated().allSatisfy {
                // The lowest four bits of a skippable frame's magic number are free.
                $0.offset == 0 ? $0.element.0 & 0xF0 == $0.element.1 : $0.element.0 == $0.element.1
            }
            return isFrame || isSkippable
        }
    }

    /// What the first bytes of an input reveal about its packing.
    enum Guess: Equatable {
        case packed(Packing)
        case plain
        /// More bytes are needed.
        case open
    }

    /// - Parameters:
    ///   - start: The first bytes.
    ///   - isWhole: Whether the input has no more.
    static func guess(_ start: [UInt8], isWhole: Bool) -> Guess {
        let first = start.prefix(bytesWanted)
        guard let packing = allCases.first(where: { $0.mayBegin(with: first) }) else { return .plain }
        if first.count == bytesWanted { return .packed(packing) }
        return isWhole ? .plain : .open
    }

    /// - Parameter windowLog: The binary logarithm of the largest window, in bytes, that a zstd frame may need.
    func makeUnpacker(windowLog: Int) -> any Unpacker {
        switch self {
        case .gzip: GzipUnpacker()
        case .zstd: ZstdUnpacker(windowLog: windowLog)
        }
    }
}

/// Unpacks a stream of bytes, piece by piece. It does no I/O.
protocol Unpacker: AnyObject {
    /// Unpacks some bytes. Unless input or output is empty, some are taken or made.
    ///
    /// - Returns: The number of input bytes taken, and of output bytes made.
    func unpack(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(PackingFault) -> (taken: Int, made: Int)

    /// Whether the input may end here.
    var mayEnd: Bool { get }

    /// Begins with another input.
    func reset()
}

/// Why bytes cannot be unpacked.
package enum PackingFault: Error, Equatable, Sendable {
    /// The bytes break the format, or a checksum is wrong.
    case damaged(String)
    /// The input ends inside a member or a frame.
    case truncated
    /// Something else follows the last member or frame.
    case trailing
    /// A frame needs a window of more bytes than is allowed. `log` is the binary logarithm of what it needs; nil if its header does
    /// not show it directly.
    case window(log: Int?, allowed: Int)
    case noMemory
}

extension PackingFault {
    /// The fault as the end of a sentence that begins with the place.
    func text(_ packing: Packing) -> String {
        switch self {
        case .damaged(let cause): "the \(packing) data is damaged: \(cause)"
        case .truncated: "the \(packing) data is cut off: it ends inside a \(packing == .gzip ? "member" : "frame")"
        case .trailing:
            "what follows the last \(packing == .gzip ? "member" : "frame") is not \(packing) data"
        case .window(let log, let allowed):
            "a zstd frame needs a window of \(log.map { "2^\($0)" } ?? "more") bytes, and 2^\(allowed) are allowed: "
                + "allow it with \(log.map { "--zstd-window \($0)" } ?? "--zstd-window"), which takes as much memory"
        case .noMemory: "there is not enough memory to unpack \(packing) data"
        }
    }
}

extension Packing {
    /// Unpacks bytes in memory, for tests: some at a time, into room for some at a time.
    ///
    /// - Parameter atMost: The number of bytes after which to stop.
    /// - Returns: What was unpacked, and the fault that ended it.
    package func unpack(
        _ packed: [UInt8], pieces: Int, room: Int, atMost: Int, windowLog: Int = 20
    ) -> ([UInt8], PackingFault?) {
        let unpacker = makeUnpacker(windowLog: windowLog)
        var (made, next, isFull): ([UInt8], Int, Bool) = ([], 0, false)
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
        let input = UnsafeMutableRawBufferPointer.allocate(byteCount: packed.count, alignment: 1)
        defer {
            unsafe output.deallocate()
            unsafe input.deallocate()
        }
        unsafe input.copyBytes(from: packed)
        do throws(PackingFault) {
            while made.count < atMost, isFull || next < packed.count {
                let end = min(packed.count, next + pieces)
                let count = try unsafe unpacker.unpack(
                    UnsafeRawBufferPointer(rebasing: input[next..<end]), into: output)
                next += count.taken
                unsafe made += output[..<count.made]
                isFull = count.made == room
            }
            if made.count < atMost, !unpacker.mayEnd { throw .truncated }
        } catch {
            return (made, error)
        }
        return (made, nil)
    }
}
