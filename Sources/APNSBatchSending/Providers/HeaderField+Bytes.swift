import APNSBatchNotification
import APNSBatchTransport

extension HeaderField {
    /// As the core takes it.
    package var bytes: HeaderFieldBytes {
        HeaderFieldBytes(name: Array(name.utf8), value: Array(value.utf8), indexing: UInt32(indexing.rawValue))
    }
}
