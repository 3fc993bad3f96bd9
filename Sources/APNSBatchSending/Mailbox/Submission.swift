import APNSBatchModel

/// A notification on its way from a program to a lane.
struct Submission: Sendable {
    /// Identifies the submission: the number of its place, and in the upper half how often the place was used before. It is
    /// the number of the row in the lane.
    let id: UInt64
    let fields: SubmittedFields

    /// The place of a submission.
    static func place(of id: UInt64) -> Int { Int(truncatingIfNeeded: id & 0xffff_ffff) }
}

/// The fields of a notification in one piece of memory. It never changes.
package final class SubmittedFields: @unchecked Sendable {
    private let bytes: UnsafeMutableRawPointer
    private var lengths = InlineArray<8, Int32>(repeating: 0)

    /// Copies the fields of a push, in the order of ``ColumnRoles/names``.
    ///
    /// - Parameter seconds: Returns the time from which a duration counts, in seconds since the epoch.
    package init(_ given: PushNotification, seconds: () -> UInt64) {
        let (priority, expiration) = (given.priority?.description ?? "", Self.text(given.expiration, seconds))
        let (collapseID, messageID) = (given.collapseID ?? "", given.messageID ?? "")
        let size =
            given.deviceToken.utf8.count + given.payload.count + given.topic.utf8.count
            + given.pushType.name.utf8.count + priority.utf8.count + expiration.utf8.count + collapseID.utf8.count
            + messageID.utf8.count
        bytes = .allocate(byteCount: size, alignment: 1)
        var filled = 0
        put(given.deviceToken, 0, &filled)
        given.payload.withUnsafeBytes { put($0, 1, &filled) }
        put(given.topic, 2, &filled)
        put(given.pushType.name, 3, &filled)
        put(priority, 4, &filled)
        put(expiration, 5, &filled)
        put(collapseID, 6, &filled)
        put(messageID, 7, &filled)
    }

    /// Copies the fields of a broadcast, in the order of ``ColumnRoles/namesOfBroadcasts``.
    package init(_ given: BroadcastNotification, seconds: () -> UInt64) {
        let (priority, expiration) = (given.priority?.description ?? "", Self.text(given.expiration, seconds))
        let size =
            given.channelID.utf8.count + given.payload.count + priority.utf8.count + expiration.utf8.count
        bytes = .allocate(byteCount: size, alignment: 1)
        var filled = 0
        put(given.channelID, 0, &filled)
        given.payload.withUnsafeBytes { put($0, 1, &filled) }
        put(priority, 2, &filled)
        put(expiration, 3, &filled)
    }

    deinit { bytes.deallocate() }

    /// A duration counts from the notification and not from the start of the sender.
    private static func text(_ expiration: Campaign.Expiration?, _ seconds: () -> UInt64) -> String {
        switch expiration {
        case nil: ""
        case .at(let time): "\(time)"
        case .after(let time): "\(seconds() &+ time.seconds)"
        }
    }

    private func put(_ text: String, _ field: Int, _ filled: inout Int) {
        guard !text.isEmpty else { return }
        var text = text
        text.withUTF8 { put(UnsafeRawBufferPointer($0), field, &filled) }
    }

    private func put(_ text: UnsafeRawBufferPointer, _ field: Int, _ filled: inout Int) {
        guard let start = text.baseAddress else { return }
        (bytes + filled).copyMemory(from: start, byteCount: text.count)
        lengths[field] = Int32(text.count)
        filled += text.count
    }

    /// Sets pointers to the fields, which are valid as long as this object lives.
    ///
    /// - Parameter count: The number of fields.
    func point(_ fields: UnsafeMutablePointer<UnsafeRawBufferPointer>, count: Int) {
        var offset = 0
        for field in 0..<count {
            fields[field] = UnsafeRawBufferPointer(start: bytes + offset, count: Int(lengths[field]))
            offset += Int(lengths[field])
        }
    }
}
