extension Campaign {
    /// The `apns-push-type`. Any text can be made a push type; one that APNs does not know makes the notification invalid.
    public struct PushType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        public let name: String

        public init(_ name: String) { self.name = name }
        public init(stringLiteral name: String) { self.init(name) }
        public var description: String { name }

        public static let alert: Self = "alert"
        public static let background: Self = "background"
        public static let controls: Self = "controls"
        public static let location: Self = "location"
        public static let voip: Self = "voip"
        public static let complication: Self = "complication"
        public static let fileprovider: Self = "fileprovider"
        public static let mdm: Self = "mdm"
        public static let liveactivity: Self = "liveactivity"
        public static let pushtotalk: Self = "pushtotalk"
        public static let widgets: Self = "widgets"
    }

    /// The `apns-priority`. A push type allows only some of them.
    public struct Priority: Sendable, Hashable, CustomStringConvertible {
        public let number: Int

        public init(_ number: Int) { self.number = number }
        public var description: String { String(number) }

        /// APNs sends the notification at once.
        public static let immediately = Self(10)
        /// APNs considers the power of the device.
        public static let savingPower = Self(5)
        /// APNs puts the power of the device first, and does not wake it.
        public static let savingMostPower = Self(1)
    }
}
