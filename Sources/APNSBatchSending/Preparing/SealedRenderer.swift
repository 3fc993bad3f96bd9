import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchNotification

/// Renders encrypted payloads: renders the secret part of a row, encrypts it, and adds the result to the payload like two
/// more fields of the row. Allocates nothing for a row that fits.
@safe struct SealedRenderer: ~Copyable {
    private let plan: SealingPlan
    private let columns: Int
    /// Whether nothing is encrypted. Content and secret then have their right lengths but no meaning.
    private let isRehearsal: Bool
    /// Created with the first row.
    private var sealer: PayloadSealer?
    /// Holds the inner payload until it is encrypted; wiped after each row.
    private let message = UnsafeMutableRawBufferPointer.allocate(byteCount: messageMax, alignment: 16)
    private let content = UnsafeMutableRawBufferPointer.allocate(byteCount: messageMax * 2, alignment: 16)
    private let secret = UnsafeMutableRawBufferPointer.allocate(
        byteCount: PayloadSealer.secretLengthMax, alignment: 16)
    /// The fields of the row, then content and secret.
    private let fields: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>

    /// In bytes. More than any payload may have, so that a larger message never fits.
    private static let messageMax = 8192

    init(_ plan: SealingPlan, columns: Int, isRehearsal: Bool) {
        self.plan = plan
        self.isRehearsal = isRehearsal
        self.columns = columns
        unsafe fields = .allocate(capacity: columns + 2)
        unsafe fields.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    deinit {
        unsafe SecretBytes.wipe(message)
        unsafe message.deallocate()
        unsafe content.deallocate()
        unsafe secret.deallocate()
        unsafe fields.deallocate()
    }

    /// Renders the payload of a row.
    /// - Throws: `CredentialError` if the recipient's key cannot be used, or if the encryption fails.
    mutating func render(
        _ row: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ template: Int,
        into payload: UnsafeMutableRawBufferPointer
    ) throws(CredentialError) -> RenderOutcome {
        let sealer = try made()
        if isRehearsal { return try unsafe rehearse(row, template, sealer, into: payload) }
        try unsafe sealer.address(row[plan.keyColumn])
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: message.prefix(payload.count))
        defer { unsafe SecretBytes.wipe(room) }
        switch unsafe plan.templates[template].inner.render(fields: row, into: room) {
        case .written(let count):
            try unsafe sealer.seal(
                UnsafeRawBufferPointer(rebasing: room.prefix(count)), content: content, secret: secret)
            let sealed = unsafe UnsafeRawBufferPointer(rebasing: content.prefix(sealer.contentLength(of: count)))
            return unsafe renderOuter(row, template, sealed, secretLength: sealer.secretLength, into: payload)
        case .tooLarge(let count):
            return unsafe measure(
                row, template, contentLength: sealer.contentLength(of: count), secretLength: sealer.secretLength,
                into: payload)
        case .invalid(let failure): return .invalid(failure)
        }
    }

    /// Renders a row for a check: checks the recipient's key, renders both parts, and measures the whole payload.
    private mutating func rehearse(
        _ row: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ template: Int, _ sealer: PayloadSealer,
        into payload: UnsafeMutableRawBufferPointer
    ) throws(CredentialError) -> RenderOutcome {
        defer { unsafe SecretBytes.wipe(message) }
        let secretLength = unsafe PayloadSealer.secretLength(bits: try RecipientKey.check(row[plan.keyColumn]))
        switch unsafe plan.templates[template].inner.render(fields: row, into: message) {
        case .written(let count), .tooLarge(let count):
            return unsafe measure(
                row, template, contentLength: sealer.contentLength(of: count), secretLength: secretLength,
                into: payload)
        case .invalid(let failure): return .invalid(failure)
        }
    }

    private mutating func made() throws(CredentialError) -> PayloadSealer {
        if let sealer { return sealer }
        let made = try PayloadSealer(cipher: plan.cipher, padding: plan.padding)
        sealer = made
        return made
    }

    private func renderOuter(
        _ row: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ template: Int, _ content: UnsafeRawBufferPointer,
        secretLength: Int, into payload: UnsafeMutableRawBufferPointer
    ) -> RenderOutcome {
        for index in 0..<columns { unsafe fields[index] = unsafe row[index] }
        unsafe fields[columns] = unsafe content
        unsafe fields[columns + 1] = unsafe UnsafeRawBufferPointer(rebasing: secret.prefix(secretLength))
        return unsafe plan.templates[template].outer.render(fields: UnsafeBufferPointer(fields), into: payload)
    }

    /// Renders the payload with a content and a secret of the right lengths but no meaning, to measure it.
    private func measure(
        _ row: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ template: Int, contentLength: Int,
        secretLength: Int, into payload: UnsafeMutableRawBufferPointer
    ) -> RenderOutcome {
        let content = [UInt8](repeating: UInt8(ascii: "A"), count: contentLength)
        unsafe secret.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "A"))
        return unsafe content.withUnsafeBytes {
            unsafe renderOuter(row, template, $0, secretLength: secretLength, into: payload)
        }
    }
}
