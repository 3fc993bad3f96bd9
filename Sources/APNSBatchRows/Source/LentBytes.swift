/// Memory that a caller lends to another thread, or behind a lock, until its call returns.
@safe struct LentBytes: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer
}
