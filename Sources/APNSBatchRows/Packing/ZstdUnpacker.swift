import CAPNSZstd

/// Unpacks zstd with libzstd, which verifies the checksums of contents and skips skippable frames.
@safe final class ZstdUnpacker: Unpacker {
    /// Nil if there is no memory.
    private let context = unsafe ZSTD_createDCtx()
    private let windowLog: Int
    private(set) var mayEnd = false

    init(windowLog: Int) {
        self.windowLog = windowLog
        _ = unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Int32(windowLog))
    }

    deinit { unsafe ZSTD_freeDCtx(context) }

    func reset() {
        _ = unsafe ZSTD_DCtx_reset(context, ZSTD_reset_session_only)
        mayEnd = false
    }

    func unpack(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(PackingFault) -> (taken: Int, made: Int) {
        guard unsafe context != nil else { throw .noMemory }
        // At the end of a frame there is nothing left inside, and a call would begin another one.
        if unsafe input.isEmpty, mayEnd { return (0, 0) }
        var from = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var to = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let isBetween = mayEnd
        let left = unsafe ZSTD_decompressStream(context, &to, &from)
        guard ZSTD_isError(left) == 0 else { throw unsafe fault(left, input, isBetween: isBetween) }
        mayEnd = left == 0
        return unsafe (from.pos, to.pos)
    }

    private func fault(_ code: Int, _ input: UnsafeRawBufferPointer, isBetween: Bool) -> PackingFault {
        switch ZSTD_getErrorCode(code) {
        case ZSTD_error_prefix_unknown where isBetween: return .trailing
        case ZSTD_error_memory_allocation: return .noMemory
        case ZSTD_error_frameParameter_windowTooLarge:
            return .window(log: unsafe Self.windowLog(of: input), allowed: windowLog)
        default: return .damaged(unsafe String(cString: ZSTD_getErrorName(code)))
        }
    }

    /// Returns the window that a frame declares, if the bytes begin with its header (RFC 8878, section 3.1.1.1.2).
    private static func windowLog(of input: UnsafeRawBufferPointer) -> Int? {
        guard input.count >= 6, unsafe input.prefix(4).elementsEqual([0x28, 0xB5, 0x2F, 0xFD]) else { return nil }
        let isSingle = unsafe input[4] & 0x20 != 0
        guard !isSingle else { return nil }
        let (exponent, mantissa) = unsafe (Int(input[5] >> 3), input[5] & 7)
        return 10 + exponent + (mantissa > 0 ? 1 : 0)
    }
}
