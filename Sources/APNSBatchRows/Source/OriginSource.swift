import APNSBatchBasics
import Glibc

/// An input whose bytes are made elsewhere in this process.
package struct Origin: Sendable {
    /// The functions of an open input, as those of `InputBytes`.
    package struct Opened: Sendable {
        let next: @Sendable () throws -> [UInt8]?
        let cancel: @Sendable () -> Void

        package init(next: @escaping @Sendable () throws -> [UInt8]?, cancel: @escaping @Sendable () -> Void) {
            (self.next, self.cancel) = (next, cancel)
        }
    }

    let name: String
    let open: @Sendable () throws -> Opened

    package init(_ name: String, open: @escaping @Sendable () throws -> Opened) {
        (self.name, self.open) = (name, open)
    }
}

/// The bytes of an origin.
final class OriginSource: ByteSource {
    private let opened: Origin.Opened
    private let isCancelled = Guarded(false)
    /// Bytes that were made and not read.
    private let ahead = Guarded<ArraySlice<UInt8>>([])

    init(_ origin: Origin) throws(InputError) {
        do {
            opened = try origin.open()
        } catch {
            throw .ofOrigin("\(error)", mayPass: (error as? any PassingFailure)?.mayPass ?? false)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        while true {
            let count = unsafe takeAhead(into: buffer)
            if count > 0 { return count }
            if isCancelled.withLock({ $0 }) { throw .cancelled }
            do {
                guard let bytes = try opened.next() else { return 0 }
                ahead.withLock { $0 = bytes[...] }
            } catch {
                throw isCancelled.withLock { $0 }
                    ? .cancelled : .ofOrigin("\(error)", mayPass: (error as? any PassingFailure)?.mayPass ?? false)
            }
        }
    }

    private func takeAhead(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let taken = ahead.withLock { ahead in
            defer { ahead.removeFirst(min(ahead.count, buffer.count)) }
            return ahead.prefix(buffer.count)
        }
        unsafe buffer.copyBytes(from: taken)
        return taken.count
    }

    func cancel() {
        isCancelled.withLock { $0 = true }
        opened.cancel()
    }
}
