import APNSBatchNotification

extension Campaign {
    /// The `apns-push-type`. Any text can be made a push type; an unknown one makes the notification invalid.
    public struct PushType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The value of the header field, such as `alert`.
        public let name: String

        /// Makes any text a push type.
        public init(_ name: String) { self.name = name }
        /// Makes any text a push type.
        public init(stringLiteral name: String) { self.init(name) }
        /// The same as ``name``.
        public var description: String { name }

        /// The notification shows an alert, plays a sound or sets a badge.
        public static let alert: Self = "alert"
        /// The app is woken, and nothing is shown.
        public static let background: Self = "background"
        /// A control of the app is loaded again. The topic's suffix is `.push-type.controls`.
        public static let controls: Self = "controls"
        /// The location of the user is asked for. The topic's suffix is `.location-query`.
        public static let location: Self = "location"
        /// A call comes in. The topic's suffix is `.voip`.
        public static let voip: Self = "voip"
        /// A complication of a watchOS app is updated. The topic's suffix is `.complication`.
        public static let complication: Self = "complication"
        /// A File Provider extension is notified of changes. The topic's suffix is `.pushkit.fileprovider`.
        public static let fileprovider: Self = "fileprovider"
        /// A managed device contacts its MDM server. It needs a client certificate, whose user id is the topic.
        public static let mdm: Self = "mdm"
        /// A Live Activity begins, changes or ends. The topic's suffix is `.push-type.liveactivity`.
        public static let liveactivity: Self = "liveactivity"
        /// A Push to Talk session changes. The topic's suffix is `.voip-ptt`.
        public static let pushtotalk: Self = "pushtotalk"
        /// A widget is loaded again. The topic's suffix is `.push-type.widgets`.
        public static let widgets: Self = "widgets"

        /// The push types of APNs, in the order of their names in its documentation. Later versions may have more.
        public static let known = APNSBatchNotification.PushType.allCases.map { Self($0.name) }
    }

    /// The `apns-priority`. A push type allows only some of them.
    public struct Priority: Sendable, Hashable, CustomStringConvertible {
        /// The value of the header field.
        public let number: Int

        /// Makes any number a priority; the rules of the push type determine which are valid.
        public init(_ number: Int) { self.number = number }
        /// The number in decimal.
        public var description: String { String(number) }

        /// APNs sends the notification at once.
        public static let immediately = Self(10)
        /// APNs considers the power of the device.
        public static let savingPower = Self(5)
        /// APNs puts the power of the device first, and does not wake it.
        public static let savingMostPower = Self(1)
    }
}
