import APNSBatchBasics

/// The id of the running system, which changes with every start. Memory and monotonic times do not survive a start.
enum BootID {
    /// Returns the id, or zeros if it cannot be read. Zeros never count as equal to another boot id.
    static func read() -> (UInt64, UInt64) {
        let text = (try? OpenFile.content(of: "/proc/sys/kernel/random/boot_id", most: 64)) ?? []
        let digits = text.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "\n") }
        guard digits.count == 32 else { return (0, 0) }
        let text32 = String(decoding: digits, as: UTF8.self)
        return (UInt64(text32.prefix(16), radix: 16) ?? 0, UInt64(text32.suffix(16), radix: 16) ?? 0)
    }
}
