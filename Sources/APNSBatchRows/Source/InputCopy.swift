import APNSBatchBasics
import Synchronization

/// A copy of an input that can be read only once, in a file from which its rows can be read again and again. It is unpacked if it is packed,
/// and packed as zstd with a table of its frames.
///
/// Threads: one thread writes, and any thread may call `bytesRead` and `cancel`.
package final class InputCopy: Sendable {
    private struct State {
        /// Nil until it is opened.
        var source: (any ByteSource)?
        var isCancelled = false
    }

    private let input: InputLocation
    private let windowLog: Int
    private let format: FormatChoice
    private let state = Guarded(State())
    private let count = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - windowLog: The binary logarithm of the largest window, in bytes, that a zstd frame of the input may need; nil for the default.
    ///   - format: The format, which determines whether each of several files has a header row.
    package init(of input: InputLocation, windowLog: Int? = nil, format: FormatChoice = .csv(.comma)) {
        (self.input, self.windowLog) = (input, windowLog ?? RowLimits.standard.zstdWindowLog)
        self.format = format
    }

    /// The number of bytes that were read, unpacked.
    package var bytesRead: UInt64 { count.load(ordering: .relaxed) }

    /// Makes a write throw `.cancelled`, even while it waits for bytes.
    package func cancel() {
        let source = state.withLock {
            $0.isCancelled = true
            return $0.source
        }
        source?.cancel()
    }

    /// Opens the input now, and returns when it was last modified, in nanoseconds since 1970-01-01 00:00 UTC; nil for a pipe. `write` reads
    /// what was opened.
    ///
    /// - Throws: `InputError.cannotOpen`, `.inFile`, `.cannotRead`.
    package func openEarly() throws(InputError) -> UInt64? { try open().modified }

    private func open() throws(InputError) -> any ByteSource {
        if let source = state.withLock({ $0.source }) { return source }
        let source = try input.open(limit: nil, windowLog: windowLog, format: format)
        let isCancelled = state.withLock {
            $0.source = source
            return $0.isCancelled
        }
        if isCancelled { source.cancel() }
        return source
    }

    /// Writes a copy that has only the beginning of the input, in place of one whose rows are not needed any more.
    ///
    /// - Parameter file: An empty file.
    package static func write(_ beginning: [UInt8], to file: any AppendFile) throws(InputError) {
        let packer = ZstdPacker(into: file)
        var rest = beginning[...]
        while !rest.isEmpty {
            let count = unsafe min(packer.free.count, rest.count)
            unsafe packer.free.copyBytes(from: rest.prefix(count))
            try packer.take(count)
            rest = rest.dropFirst(count)
        }
        try packer.finish()
    }

    /// Opens the input, unless it is open, and reads it to its end into a file. The bytes are durable on return.
    ///
    /// - Parameters:
    ///   - file: An empty file. After an error it has a part of the input.
    ///   - frameBytes: The number of unpacked bytes of a frame; nil for the default.
    /// - Returns: What was read.
    /// - Throws: Any `InputError`.
    @discardableResult
    package func write(to file: any AppendFile, frameBytes: Int? = nil) throws(InputError) -> CopiedInput {
        let source = try open()
        defer { state.withLock { $0.source = nil } }
        var found = InputFingerprint()
        let packer = ZstdPacker(into: file, frameBytes: frameBytes ?? ZstdPacker.frameBytes)
        while true {
            let got = try unsafe source.read(into: packer.free)
            if got == 0 { break }
            unsafe found.add(UnsafeRawBufferPointer(rebasing: packer.free[..<got]))
            count.add(UInt64(got), ordering: .relaxed)
            try packer.take(got)
        }
        try packer.finish()
        do throws(StorageError) {
            try file.sync()
        } catch {
            throw .cannotSpool(error)
        }
        found.isPacked = source.packing != nil
        return CopiedInput(fingerprint: found, storedBytes: source.storedSize, files: source.filesRead)
    }
}

/// What was read to make a copy of an input. A file may have been replaced since.
package struct CopiedInput: Sendable, Equatable {
    /// One of several files.
    package struct File: Sendable, Equatable {
        package var path: String
        /// The number of bytes where it is stored.
        package var storedBytes: UInt64
        package var fingerprint: InputFingerprint
    }

    package var fingerprint: InputFingerprint
    /// The number of bytes where they are stored; nil if it is known only at the end.
    package var storedBytes: UInt64?
    /// Empty unless the input is made of several.
    package var files: [File]
}
