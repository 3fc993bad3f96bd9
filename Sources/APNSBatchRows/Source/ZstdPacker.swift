import APNSBatchBasics
import CAPNSZstd

/// Packs bytes into a file of zstd frames with a ``SeekTable``, so that every place in it is found without unpacking those before.
///
/// A frame has a checksum and the number of its unpacked bytes.
@safe final class ZstdPacker {
    /// The number of unpacked bytes of a frame. A larger frame is packed better, and takes longer to find a place in.
    static let frameBytes = 1 << 20
    /// Level 1 takes a third less time than the default, and a tenth more room.
    private static let level: Int32 = 1

    private let file: any AppendFile
    /// Nil if there is no memory.
    private let context = unsafe ZSTD_createCCtx()
    /// The bytes of the next frame.
    private let room: UnsafeMutableRawBufferPointer
    private let packed: UnsafeMutableRawBufferPointer
    private var filled = 0
    private var table = SeekTable()

    init(into file: any AppendFile, frameBytes: Int = frameBytes) {
        self.file = file
        unsafe room = .allocate(byteCount: frameBytes, alignment: 16)
        unsafe packed = .allocate(byteCount: ZSTD_compressBound(frameBytes), alignment: 16)
        _ = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.level)
        _ = unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit {
        unsafe ZSTD_freeCCtx(context)
        unsafe room.deallocate()
        unsafe packed.deallocate()
    }

    /// The memory in which the next bytes are to be put; never empty.
    var free: UnsafeMutableRawBufferPointer { unsafe UnsafeMutableRawBufferPointer(rebasing: room[filled...]) }

    /// Takes bytes that were put into ``free``.
    ///
    /// - Throws: `InputError.cannotSpool`, `.cannotPack`.
    func take(_ count: Int) throws(InputError) {
        filled += count
        if unsafe filled == room.count { try endFrame() }
    }

    /// Appends what was taken, and the table. The file is then whole, and not durable yet.
    func finish() throws(InputError) {
        if filled > 0 || table.frames.isEmpty { try endFrame() }
        try unsafe table.bytes.withUnsafeBufferPointer { (bytes) throws(InputError) in
            try unsafe append(UnsafeRawBufferPointer(bytes))
        }
    }

    private func endFrame() throws(InputError) {
        guard unsafe context != nil else { throw .cannotPack("there is not enough memory") }
        let size = unsafe ZSTD_compress2(context, packed.baseAddress, packed.count, room.baseAddress, filled)
        guard ZSTD_isError(size) == 0 else { throw .cannotPack(unsafe String(cString: ZSTD_getErrorName(size))) }
        try unsafe append(UnsafeRawBufferPointer(rebasing: packed[..<size]))
        table.frames.append(.init(packed: UInt32(size), unpacked: UInt32(filled)))
        filled = 0
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws(InputError) {
        do throws(StorageError) {
            try unsafe file.append(bytes)
        } catch {
            throw .cannotSpool(error)
        }
    }
}
