import APNSBatchBasics
import APNSBatchRows
import Glibc

/// A file of zstd frames with a table, as a run keeps of an input that can be read only once, and of which any place is read.
///
/// The first byte chooses. Either the bytes are an input that is copied into such a file, in small frames: every place of the copy
/// must then have the same bytes as the input. Or they are such a file: whatever it says, reading ends.
@Sendable func fuzzSpool(_ bytes: UnsafeRawBufferPointer) {
    guard let choice = bytes.first, bytes.count > 1, bytes.count <= 60_000 else { return }
    let given = FileInMemory(Array(bytes.dropFirst()))
    if choice & 1 == 0 { fuzzCopy(of: given, frameBytes: 1 + Int(choice >> 1)) } else { readPlaces(of: given) }
}

private func fuzzCopy(of input: FileInMemory, frameBytes: Int) {
    let packed = CollectedBytes()
    // An input that is packed itself may be damaged.
    guard (try? InputCopy(of: input.location).write(to: packed, frameBytes: frameBytes)) != nil else { return }
    let copy = FileInMemory(packed.bytes)
    guard let one = try? ChunkReader(input: input.location, buffers: 1),
        let other = try? ChunkReader(input: copy.location, buffers: 1)
    else { preconditionFailure("a file in memory cannot be opened") }
    for place in places(of: 1 << 12) {
        let (wanted, found) = (try? one.checksum(of: place), try? other.checksum(of: place))
        precondition(wanted == found, "a place of the copy has other bytes")
    }
}

private func readPlaces(of file: FileInMemory) {
    guard let reader = try? ChunkReader(input: file.location, buffers: 1) else { return }
    for place in places(of: 1 << 16) { _ = try? reader.checksum(of: place) }
    for offset in [60_000, 7, 3000] as [UInt64] {
        guard (try? reader.seek(to: RowPosition(row: 1, line: 2, offset: offset))) != nil else { continue }
        if let chunk = try? reader.next() { chunk.recycle() }
    }
}

/// Places in the first bytes of a file, backward and forward.
private func places(of count: UInt64) -> [Range<UInt64>] {
    [count - 100..<count, 0..<1, 0..<count / 2, count / 2..<count / 2 + 3, 100..<200, 17..<90, 40..<41, 1..<64]
}

/// A file that is in memory only, without a name, and that is opened by its descriptor's path.
private final class FileInMemory {
    private let descriptor: Int32

    init(_ bytes: [UInt8]) {
        var path = Array("/dev/shm/fuzz-XXXXXX".utf8CString)
        descriptor = mkstemp(&path)
        unlink(path)
        precondition(descriptor >= 0 && write(descriptor, bytes, bytes.count) == bytes.count)
    }

    deinit { close(descriptor) }

    var location: InputLocation { .file("/proc/self/fd/\(descriptor)") }
}

/// What is appended to a file. One thread uses it.
final class CollectedBytes: AppendFile, @unchecked Sendable {
    private(set) var bytes: [UInt8] = []
    let reservationFailure: StorageError? = nil

    var length: UInt64 { UInt64(bytes.count) }
    func append(_ bytes: UnsafeRawBufferPointer) throws(StorageError) { self.bytes += bytes }
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int { 0 }
    func sync() throws(StorageError) {}
    func reserve(_ bytes: UInt64) throws(StorageError) {}
    func truncate(to length: UInt64) throws(StorageError) {}
    func confirmLength() throws(StorageError) {}
    func unlock() {}
}
