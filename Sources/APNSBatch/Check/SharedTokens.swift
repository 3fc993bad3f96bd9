import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows
import APNSBatchSending
import APNSBatchTransport

/// The tokens that all threads of a check have found.
final class SharedTokens: Sendable {
    private final class Holder { var register = TokenRegister(bits: TokenRegister.bitsOfCheck) }

    private let holder = Guarded(Holder())

    /// Notes a token, and returns an earlier row with the same token; nil if there is none.
    func note(_ token: UnsafeRawBufferPointer, row: UInt64) -> UInt64? {
        let hash = unsafe TokenRegister.hash(token)
        return holder.withLock { $0.register.note(hash, row: row) }
    }

    var duplicates: DuplicateTokens? { holder.withLock { $0.register.duplicates } }
}
