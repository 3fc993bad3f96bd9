/// Calls `body` with the text's UTF-8 in memory of exactly its size, so that a sanitizer detects a read beyond it.
func withBytes<R>(_ text: String, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try withBytes(Array(text.utf8), body)
}

func withBytes<R>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: bytes)
    return try body(UnsafeRawBufferPointer(memory))
}

/// Returns the bytes that `body` writes to a buffer of exactly `capacity` bytes. `body` returns how many it wrote.
func written(_ capacity: Int, _ body: (UnsafeMutableRawPointer) -> Int) -> String {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
    defer { memory.deallocate() }
    let count = body(memory.baseAddress!)
    return String(decoding: memory.prefix(count), as: UTF8.self)
}
