/// A key of a payload that Apple defines: one row of the table of keys.
package struct PayloadKey: Sendable {
    /// The object that a key stands in.
    package enum Parent: UInt8, CaseIterable, Sendable {
        /// The payload itself, beside the app's own keys.
        case payload
        case aps
        case alert
        case sound

        /// As it begins a message.
        package var path: String {
            switch self {
            case .payload: "payload"
            case .aps: "aps"
            case .alert: "aps.alert"
            case .sound: "aps.sound"
            }
        }
    }

    package let parent: Parent
    package let name: String
    package let form: PayloadKeyForm
    /// The one push type whose payloads have it; nil for all.
    package let pushType: PushType?
    /// Whether only older systems read it.
    package let isLegacy: Bool
    /// What it does.
    package let note: String
    /// A page of Apple's.
    package let source: String

    init(
        _ parent: Parent, _ name: String, _ form: PayloadKeyForm, legacy: Bool = false, only pushType: PushType? = nil,
        _ note: String, source: String = "Generating a remote notification"
    ) {
        self.parent = parent
        self.name = name
        self.form = form
        self.pushType = pushType
        isLegacy = legacy
        self.note = note
        self.source = source
    }
}
