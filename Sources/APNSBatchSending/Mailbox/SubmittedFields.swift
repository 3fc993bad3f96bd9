import APNSBatchModel

/// The fields of a notification, in one piece of memory with their lengths. It never changes after it was made.
///
/// It is made by functions and not by initializers, because Swift copies the arguments of an initializer: each copy of a
/// notification counts six references.
package struct SubmittedFields: @unchecked Sendable {
    private typealias Lengths = InlineArray<8, Int32>

    private let buffer: ManagedBuffer<Lengths, UInt8>

    /// Copies the fields of a push, in the order of ``ColumnRoles/names``.
    ///
    /// - Parameter seconds: Returns the time from which a duration counts, in seconds since the epoch.
    package static func of(_ given: PushNotification, seconds: () -> UInt64) -> SubmittedFields {
        let (priority, expiration) = (given.priority?.description ?? "", text(given.expiration, seconds))
        let (collapseID, messageID) = (given.collapseID ?? "", given.messageID ?? "")
        var size = given.deviceToken.utf8.count + given.payload.count + given.topic.utf8.count
        size += given.pushType.name.utf8.count + priority.utf8.count + expiration.utf8.count
        size += collapseID.utf8.count + messageID.utf8.count
        return make(size) { fields in
            fields.add(given.deviceToken)
            fields.add(given.payload)
            fields.add(given.topic)
            fields.add(given.pushType.name)
            fields.add(priority)
            fields.add(expiration)
            fields.add(collapseID)
            fields.add(messageID)
        }
    }

    /// Copies the fields of a broadcast, in the order of ``ColumnRoles/namesOfBroadcasts``.
    package static func of(_ given: BroadcastNotification, seconds: () -> UInt64) -> SubmittedFields {
        let (priority, expiration) = (given.priority?.description ?? "", text(given.expiration, seconds))
        let size = given.channelID.utf8.count + given.payload.count + priority.utf8.count + expiration.utf8.count
        return make(size) { fields in
            fields.add(given.channelID)
            fields.add(given.payload)
            fields.add(priority)
            fields.add(expiration)
        }
    }

    /// A duration counts from the notification and not from the start of the sender.
    private static func text(_ expiration: Campaign.Expiration?, _ seconds: () -> UInt64) -> String {
        switch expiration {
        case nil: ""
        case .at(let time): "\(time)"
        case .after(let time): "\(seconds() &+ time.seconds)"
        }
    }

    private static func make(_ size: Int, _ body: (inout Filling) -> Void) -> SubmittedFields {
        let buffer = ManagedBuffer<Lengths, UInt8>.create(minimumCapacity: size) { _ in Lengths(repeating: 0) }
        unsafe buffer.withUnsafeMutablePointers { lengths, bytes in
            var filling = unsafe Filling(lengths: lengths, next: bytes, end: bytes + size)
            body(&filling)
        }
        return SubmittedFields(buffer: buffer)
    }

    /// The fields while they are copied.
    @safe private struct Filling {
        let lengths: UnsafeMutablePointer<Lengths>
        var next: UnsafeMutablePointer<UInt8>
        let end: UnsafeMutablePointer<UInt8>
        var field = 0

        mutating func add(_ text: String) {
            let count = text.utf8.count
            unsafe precondition(count <= end - next, "the size of the fields was computed from them")
            guard count > 0 else { return pass(0) }
            let copied: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
                unsafe next.update(from: utf8.baseAddress!, count: count)
            }
            if copied == nil { for (place, byte) in text.utf8.enumerated() { unsafe next[place] = byte } }
            pass(count)
        }

        mutating func add(_ bytes: [UInt8]) {
            unsafe precondition(bytes.count <= end - next, "the size of the fields was computed from them")
            unsafe bytes.withUnsafeBufferPointer { bytes in
                if let start = bytes.baseAddress { unsafe next.update(from: start, count: bytes.count) }
            }
            pass(bytes.count)
        }

        private mutating func pass(_ count: Int) {
            unsafe lengths.pointee[field] = Int32(count)
            field += 1
            unsafe next += count
        }
    }

    /// Sets pointers to the fields, which are valid as long as a copy of this value exists.
    ///
    /// - Parameter count: The number of fields.
    func point(_ fields: UnsafeMutablePointer<UnsafeRawBufferPointer>, count: Int) {
        unsafe buffer.withUnsafeMutablePointers { lengths, bytes in
            var start = UnsafeRawPointer(bytes)
            for field in 0..<count {
                let length = unsafe Int(lengths.pointee[field])
                unsafe fields[field] = unsafe UnsafeRawBufferPointer(start: start, count: length)
                unsafe start += length
            }
        }
    }
}
