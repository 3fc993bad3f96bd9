import APNSProtocol

/// The rules of a payload, compiled for one push type and one template, or for raw payloads. Never changes: any number
/// of threads may check with it.
package final class PayloadRules: Sendable {
    package let template: PayloadTemplate?
    package let pushType: PushType
    package let isBroadcast: Bool
    /// The most bytes a payload may have.
    package let payloadLimit: Int
    /// What holds for every row, whatever its fields say.
    package let templateFindings: [TemplateFinding]
    /// False when no row can break a rule that the template has not broken already; card numbers aside.
    package let needsRow: Bool

    /// - Parameter template: nil for raw payloads.
    package init(template: PayloadTemplate?, pushType: PushType, isBroadcast: Bool = false) {
        self.template = template
        self.pushType = pushType
        self.isBroadcast = isBroadcast
        payloadLimit = isBroadcast ? PushTypeRule.broadcastPayloadLimit : pushType.payloadLimit
        templateFindings = []
        needsRow = template == nil
    }

    /// What the rules say of a payload, apart from what ``templateFindings`` have said of all and from card numbers.
    ///
    /// One pass; allocates nothing on the good way.
    /// - Parameters:
    ///   - payload: as rendered or compacted, borrowed until return.
    ///   - fields: those it was rendered from, borrowed until return; may be empty for raw payloads.
    package func check(
        _ payload: UnsafeRawBufferPointer, fields: UnsafeBufferPointer<UnsafeRawBufferPointer>
    ) -> PayloadVerdict {
        PayloadVerdict()
    }

    /// Whether a number in the payload looks like that of a card. One pass, apart from ``check(_:fields:)``.
    package func holdsCardNumber(_ payload: UnsafeRawBufferPointer) -> Bool { false }

    /// All findings in words: the slow way, for a payload whose verdict is not clean or that holds a card number.
    package func describe(
        _ payload: UnsafeRawBufferPointer, fields: UnsafeBufferPointer<UnsafeRawBufferPointer>,
        cardNumbers: Bool = false
    ) -> [PayloadFinding] {
        []
    }
}
