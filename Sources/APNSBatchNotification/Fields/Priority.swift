/// How urgently APNs delivers a push: the `apns-priority` header.
///
/// Source: Apple, "Sending notification requests to APNs".
package enum Priority: UInt8, CaseIterable, Sendable {
    /// Power before all else; never wakes the device.
    case low = 1
    /// With regard to the device's power.
    case powerAware = 5
    /// At once. What APNs assumes without the header.
    case immediate = 10

    /// The header's value.
    package var text: String {
        switch self {
        case .low: "1"
        case .powerAware: "5"
        case .immediate: "10"
        }
    }

    /// Reads `1`, `5` or `10`, nothing around it.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Result<Priority, FieldFault> {
        switch text.count {
        case 1 where text[0] == UInt8(ascii: "1"): .success(.low)
        case 1 where text[0] == UInt8(ascii: "5"): .success(.powerAware)
        case 2 where text[0] == UInt8(ascii: "1") && text[1] == UInt8(ascii: "0"): .success(.immediate)
        default: .failure(.priorityUnknown)
        }
    }
}
