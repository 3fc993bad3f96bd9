import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows
import APNSBatchSending
import APNSBatchTransport

/// The tokens that the threads of a check have met.
final class SharedTokens: Sendable {
    private final class Holder { var register = TokenRegister(bits: TokenRegister.bitsOfCheck) }

    private let holder = Guarded(Holder())

    /// The row that has the same token, if a row that was noted has it.
    func note(_ token: UnsafeRawBufferPointer, row: UInt64) -> UInt64? {
        let hash = TokenRegister.hash(token)
        return holder.withLock { $0.register.note(hash, row: row) }
    }

    var duplicates: DuplicateTokens? { holder.withLock { $0.register.duplicates } }
}

extension RowFault {
    /// A token that another row has too.
    static func duplicateToken(of other: UInt64, _ row: Row, _ plan: CampaignPlan) -> RowFinding {
        finding(.duplicateToken, plan.roles.token, row, plan, "token: row \(other) has the same token")
    }
}
