import APNSBatchNotification
import APNSBatchTransport

extension HeaderField {
    /// The field in the form that the core takes.
    package var bytes: HeaderFieldBytes {
        HeaderFieldBytes(name: Array(name.utf8), value: Array(value.utf8), indexing: UInt32(indexing.rawValue))
    }
}
