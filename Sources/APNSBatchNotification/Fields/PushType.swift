/// What a push is: the `apns-push-type` header. What follows from each type is in ``PushTypeRule``. Usable from inline, for
/// lanes ask it of each row.
@frozen @usableFromInline package enum PushType: UInt8, CaseIterable, Sendable {
    case alert
    case background
    case voip
    case complication
    case fileprovider
    case location
    case liveactivity
    case pushtotalk
    case widgets
    case controls
    case mdm

    /// What the type asks for.
    package var rule: PushTypeRule { PushTypeRule.all[Int(rawValue)] }

    /// The header's value.
    package var name: String { rule.name }

    /// The most bytes a payload of this type may have.
    package var payloadLimit: Int { rule.payloadLimit }

    /// The priority to send when nobody asked for another.
    package var defaultPriority: Priority { rule.priorities[0] }

    /// Finds the type of that name, exactly as Apple writes it. Complexity: one comparison per type, no allocation.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Result<PushType, FieldFault> {
        for rule in PushTypeRule.all where rule.name.hasBytes(text) {
            return .success(rule.type)
        }
        return .failure(.pushTypeUnknown)
    }

    /// Whether a push of this type may have that priority.
    package func check(_ priority: Priority) -> FieldFault? {
        rule.priorities.contains(priority) ? nil : .priorityNotAllowed(self, priority)
    }
}
