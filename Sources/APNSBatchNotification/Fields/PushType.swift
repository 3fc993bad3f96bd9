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

    package var rule: PushTypeRule { PushTypeRule.all[Int(rawValue)] }

    /// The header's value.
    package var name: String { rule.name }

    /// The most bytes a payload of this type may have.
    package var payloadLimit: Int { rule.payloadLimit }

    /// The priority to send when nobody asked for another.
    package var defaultPriority: Priority { rule.priorities[0] }

    /// Finds the type of that name, exactly as Apple writes it. Complexity: one comparison per type, no allocation.
    package static func parse(_ text: UnsafeRawBufferPointer) -> Result<PushType, FieldFault> {
        for rule in PushTypeRule.all where unsafe rule.name.hasBytes(text) {
            return .success(rule.type)
        }
        return .failure(.pushTypeUnknown)
    }

    /// Whether a push of this type may have that priority.
    package func check(_ priority: Priority) -> FieldFault? {
        rule.priorities.contains(priority) ? nil : .priorityNotAllowed(self, priority)
    }
}

/// What a push type asks for: one row of the table of push types.
///
/// Source of every row: Apple, "Sending notification requests to APNs" (the tables of `apns-push-type` and
/// `apns-topic`), "Generating a remote notification" (payload limits); per row, what else is cited.
package struct PushTypeRule: Sendable {
    /// How the topic is made from the app's bundle id.
    package enum TopicForm: Equatable, Sendable {
        case bundleID
        /// The bundle id and this suffix.
        case suffixed(String)
        /// Nothing to do with a bundle id: the UID of the push certificate's subject.
        case certificateUserID
    }

    /// How the connection may be authenticated.
    package enum Authentication: Equatable, Sendable {
        case tokenOrCertificate
        case tokenOnly
        case certificateOnly
    }

    /// What must stand in `aps`, and what must not.
    package enum Content: Equatable, Sendable {
        /// An alert, a badge or a sound, at least one.
        case visible
        /// `content-available: 1` and neither alert, badge nor sound.
        case silent
        /// `content-changed: true`.
        case contentChanged
        /// `timestamp` and `event`.
        case activity
        /// Nothing is asked.
        case free
    }

    /// How soon a push is to expire; another expiration is sent and earns a warning.
    package enum Lifetime: Equatable, Sendable {
        /// Nothing is asked.
        case any
        /// Tried once, or kept for at most ``PushTypeRule/fewSeconds``.
        case seconds
        /// Tried once: `apns-expiration` 0, which is sent when nobody asked for another.
        case once
    }

    package let type: PushType
    /// The header's value.
    package let name: String
    package let topicForm: TopicForm
    package let payloadLimit: Int
    /// The priorities that may be asked for; the first is sent when nobody asked.
    package let priorities: [Priority]
    /// The priorities that Apple's page about the type names, where it names fewer; others are sent and earn a warning.
    package let usualPriorities: [Priority]
    /// How soon a push of this type is to expire.
    package let lifetime: Lifetime
    package let authentication: Authentication
    package let content: Content
    /// The page of Apple's that says so, beside those named above.
    package let source: String

    init(
        _ type: PushType, _ name: String, topic: TopicForm, limit: Int = 4096,
        priorities: [Priority] = [.immediate, .powerAware, .low], usual: [Priority]? = nil, lifetime: Lifetime = .any,
        authentication: Authentication = .tokenOrCertificate, content: Content = .free, source: String
    ) {
        self.type = type
        self.name = name
        self.topicForm = topic
        self.payloadLimit = limit
        self.priorities = priorities
        usualPriorities = usual ?? priorities
        self.lifetime = lifetime
        self.authentication = authentication
        self.content = content
        self.source = source
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

    /// The most seconds that count as the few seconds of Apple's page about voip pushes. A bound of ours.
    package static let fewSeconds: UInt32 = 30

    /// The most bytes of a broadcast's payload. Source: Apple, "Sending broadcast push notification requests to APNs".
    package static let broadcastPayloadLimit = 5120
}
