/// The type of a push: the `apns-push-type` header. ``PushTypeRule`` has the requirements of each type. It is usable from
/// inline, because lanes use it for each row.
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

    package var rule: PushTypeRule { PushTypeRule.all[Int(rawValue)] }

    /// The header's value.
    package var name: String { rule.name }

    package var payloadLimit: Int { rule.payloadLimit }

    /// The priority that is sent if none was given.
    package var defaultPriority: Priority { rule.priorities[0] }

    /// Parses a push type, spelled exactly as in Apple's documentation. Complexity: one comparison per type, no allocation.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Result<PushType, FieldFault> {
        for rule in PushTypeRule.all where unsafe rule.name.hasBytes(text) {
            return .success(rule.type)
        }
        return .failure(.pushTypeUnknown)
    }

    package func check(_ priority: Priority) -> FieldFault? {
        rule.priorities.contains(priority) ? nil : .priorityNotAllowed(self, priority)
    }
}

/// The requirements of a push type: one row of the table of push types.
///
/// Source of every row: Apple, "Sending notification requests to APNs" (the tables of `apns-push-type` and `apns-topic`)
/// and "Generating a remote notification" (payload limits). Rows cite their further sources.
package struct PushTypeRule: Sendable {
    /// How the topic follows from the app's bundle id.
    package enum TopicForm: Equatable, Sendable {
        case bundleID
        /// The bundle id followed by this suffix.
        case suffixed(String)
        /// The UID in the subject of the push certificate, which is independent of the bundle id.
        case certificateUserID
    }

    /// The allowed kinds of authentication.
    package enum Authentication: Equatable, Sendable {
        case tokenOrCertificate
        case tokenOnly
        case certificateOnly
    }

    /// What `aps` must contain, and what it must not.
    package enum Content: Equatable, Sendable {
        /// At least one of alert, badge and sound.
        case visible
        /// `content-available: 1`, and no alert, badge or sound.
        case silent
        /// `content-changed: true`.
        case contentChanged
        /// `timestamp` and `event`.
        case activity
        /// No requirement.
        case free
    }

    /// How soon a push should expire. Other expirations are sent with a warning.
    package enum Lifetime: Equatable, Sendable {
        /// No requirement.
        case any
        /// One attempt, or storage for at most ``PushTypeRule/fewSeconds``.
        case seconds
        /// One attempt: `apns-expiration` 0, which is sent if no expiration was given.
        case once
    }

    package let type: PushType
    /// The header's value.
    package let name: String
    package let topicForm: TopicForm
    package let payloadLimit: Int
    /// The allowed priorities. The first one is sent if none was given.
    package let priorities: [Priority]
    /// The priorities on Apple's page about the type, if it lists fewer. Others are sent with a warning.
    package let usualPriorities: [Priority]
    package let lifetime: Lifetime
    package let authentication: Authentication
    package let content: Content
    /// The page by Apple that is the source, in addition to those named above.
    package let source: String

    init(
        _ type: PushType, _ name: String, topic: TopicForm, limit: Int = 4096,
        priorities: [Priority] = [.immediate, .powerAware, .low], usual: [Priority]? = nil, lifetime: Lifetime = .any,
        authentication: Authentication = .tokenOrCertificate, content: Content = .free, source: String
    ) {
        (self.type, self.name, topicForm, payloadLimit) = (type, name, topic, limit)
        (self.priorities, usualPriorities) = (priorities, usual ?? priorities)
        (self.lifetime, self.authentication, self.content, self.source) = (lifetime, authentication, content, source)
    }
}

extension PushTypeRule {
    /// The table, in the order of ``PushType``.
    package static let all = [
        PushTypeRule(
            .alert, "alert", topic: .bundleID, content: .visible, source: "Generating a remote notification"),
        PushTypeRule(
            .background, "background", topic: .bundleID, priorities: [.powerAware], content: .silent,
            source: "Pushing background updates to your App"),
        PushTypeRule(
            .voip, "voip", topic: .suffixed(".voip"), limit: 5120, lifetime: .seconds,
            source: "Responding to VoIP Notifications from PushKit"),
        PushTypeRule(
            .complication, "complication", topic: .suffixed(".complication"),
            source: "Sending notification requests to APNs"),
        PushTypeRule(
            .fileprovider, "fileprovider", topic: .suffixed(".pushkit.fileprovider"), authentication: .tokenOnly,
            source: "Using push notifications to signal changes"),
        PushTypeRule(
            .location, "location", topic: .suffixed(".location-query"), authentication: .tokenOnly,
            source: "Creating a location push service extension"),
        PushTypeRule(
            .liveactivity, "liveactivity", topic: .suffixed(".push-type.liveactivity"),
            usual: [.immediate, .powerAware], content: .activity,
            source: "Starting and updating Live Activities with ActivityKit push notifications"),
        PushTypeRule(
            .pushtotalk, "pushtotalk", topic: .suffixed(".voip-ptt"), usual: [.immediate], lifetime: .once,
            source: "Creating a Push to Talk app"),
        PushTypeRule(
            .widgets, "widgets", topic: .suffixed(".push-type.widgets"), content: .contentChanged,
            source: "Updating widgets with WidgetKit push notifications"),
        PushTypeRule(
            .controls, "controls", topic: .suffixed(".push-type.controls"), content: .contentChanged,
            source: "Updating controls locally and remotely"),
        PushTypeRule(
            .mdm, "mdm", topic: .certificateUserID, authentication: .certificateOnly,
            source: "Setting Up Push Notifications for Your MDM Customers"),
    ]

    /// The maximum number of seconds that count as "a few seconds" on Apple's page about voip pushes. A limit chosen here.
    package static let fewSeconds: UInt32 = 30

    /// The maximum length of a broadcast's payload in bytes. Source: Apple, "Sending broadcast push notification requests
    /// to APNs".
    package static let broadcastPayloadLimit = 5120
}
