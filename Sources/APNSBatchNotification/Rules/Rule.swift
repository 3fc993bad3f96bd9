/// A rule that a campaign, a row, a header or a payload can break. The table of ``RuleRow`` has its text and source. The
/// raw value is its name in `findings.csv` and in the documentation.
package enum Rule: String, CaseIterable, Sendable {
    // The row.
    case csvRow = "csv-row"
    case ndjsonRow = "ndjson-row"
    case emptyRow = "empty-row"
    case repeatedHeader = "repeated-header"
    case deviceToken = "device-token"
    case tokenSize = "token-size"
    case duplicateToken = "duplicate-token"
    case columnValueType = "column-value-type"
    case variantUnknown = "variant-unknown"
    case recipientKey = "recipient-key"
    case channelID = "channel-id"

    // The payload as a whole.
    case jsonSyntax = "json-syntax"
    case payloadSize = "payload-size"
    case apsMissing = "aps-missing"
    case apsType = "aps-type"
    case keyType = "key-type"
    case keyRange = "key-range"
    case mutableContentTrue = "mutable-content-true"
    case duplicateKey = "duplicate-key"
    case unknownApsKey = "unknown-aps-key"
    case unknownAlertKey = "unknown-alert-key"
    case unknownSoundKey = "unknown-sound-key"
    case cardNumber = "card-number"
    case suspectText = "suspect-text"
    case nullValue = "null-value"

    // The payload and its push type.
    case alertNothingToShow = "alert-nothing-to-show"
    case backgroundShows = "background-shows"
    case backgroundContentAvailable = "background-content-available"
    case contentChangedMissing = "content-changed-missing"
    case timestampMissing = "timestamp-missing"
    case eventMissing = "event-missing"
    case contentStateMissing = "content-state-missing"
    case startAttributes = "start-attributes"
    case startAlert = "start-alert"
    case broadcastStart = "broadcast-start"

    // The app's texts.
    case locKeyMissing = "loc-key-missing"
    case locKeyArgs = "loc-key-args"

    // The headers.
    case pushType = "push-type"
    case pushTypeCredentials = "push-type-credentials"
    case topic = "topic"
    case topicProvider = "topic-provider"
    case topicSuffix = "topic-suffix"
    case priority = "priority"
    case priorityBackground = "priority-background"
    case priorityUnusual = "priority-unusual"
    case expiration = "expiration"
    case expirationMissing = "expiration-missing"
    case expirationUnusual = "expiration-unusual"
    case collapseID = "collapse-id"
    case apnsID = "apns-id"
    case headerSets = "header-sets"

    // The campaign.
    case template = "template"
    case unusedColumn = "unused-column"
    case certificateExpiry = "certificate-expiry"
    case deadlineTooEarly = "deadline-too-early"
}

extension Rule {
    package enum Severity: String, Sendable {
        /// APNs would refuse the push, or a device could not use it. It is not sent.
        case error
        /// The push is sent, but should be reviewed.
        case warning
    }

    package var severity: Severity { row.severity }

    /// The requirement, as a sentence without a full stop.
    package var about: String { row.about }

    /// The document that the rule comes from.
    package var source: String { row.source }

    /// A dictionary and not an array, because rows are looked up only for findings.
    private var row: RuleRow { unsafe RuleRow.byRule[self].unsafelyUnwrapped }
}

/// One row of the table of rules.
package struct RuleRow: Sendable {
    package let rule: Rule
    package let severity: Rule.Severity
    /// The requirement, as a sentence without a full stop.
    package let about: String
    /// A section of an RFC, the title of a page by Apple, or another standard.
    package let source: String

    private init(_ rule: Rule, _ severity: Rule.Severity, _ about: String, _ source: String) {
        (self.rule, self.severity, self.about, self.source) = (rule, severity, about, source)
    }
}

extension RuleRow {
    static let byRule = Dictionary(uniqueKeysWithValues: all.map { ($0.rule, $0) })

    private static let generating = "Apple, Generating a remote notification"
    private static let sending = "Apple, Sending notification requests to APNs"
    private static let background = "Apple, Pushing background updates to your App"
    private static let activities =
        "Apple, Starting and updating Live Activities with ActivityKit push notifications"
    private static let broadcasts = "Apple, Sending broadcast push notification requests to APNs"
    private static let localising = "Apple, Localized Formatted Strings (2011); Generating a remote notification"

    /// The table, in the order of ``Rule``.
    package static let all = [
        // The row.
        RuleRow(.csvRow, .error, "a row has as many fields as the header and closes its quotes", "RFC 4180, 2"),
        RuleRow(
            .ndjsonRow, .error, "a line is a JSON object, in which no key that the campaign uses occurs twice",
            "RFC 8259"),
        RuleRow(.emptyRow, .error, "a row has a field that is not empty", "this program"),
        RuleRow(.repeatedHeader, .error, "the header row is at the beginning only", "RFC 4180, 2"),
        RuleRow(.deviceToken, .error, "a device token is an even number of hex digits", sending),
        RuleRow(
            .tokenSize, .warning, "a device token has 32 bytes, as all have today; others are sent too",
            "Apple, Registering your app with APNs"),
        RuleRow(.duplicateToken, .warning, "a device token is in one row only", "this program"),
        RuleRow(.columnValueType, .error, "a field fits the type of its placeholder", "RFC 8259, 3"),
        RuleRow(.variantUnknown, .error, "a row's variant is one of the campaign's", "the campaign"),
        RuleRow(
            .recipientKey, .error, "a recipient's encryption key is a readable RSA public key", "RFC 8017; RFC 7468"),
        RuleRow(.channelID, .error, "a broadcast names its channel by the id that APNs gave it", broadcasts),

        // The payload as a whole.
        RuleRow(.jsonSyntax, .error, "a payload is strict JSON, which has no escape \\U", "RFC 8259; " + generating),
        RuleRow(.payloadSize, .error, "at most 4,096 bytes; 5,120 for voip and for broadcasts", generating),
        RuleRow(.apsMissing, .error, "a push of this type has an object named aps", generating),
        RuleRow(.apsType, .error, "aps is an object", generating),
        RuleRow(
            .keyType, .error, "the value of a key that Apple defines has the type that the key asks for", generating),
        RuleRow(.keyRange, .error, "the value of a key that Apple defines is within the key's range", generating),
        RuleRow(
            .mutableContentTrue, .warning, "mutable-content is 0 or 1; true is used, but not documented",
            generating),
        RuleRow(.duplicateKey, .warning, "a key occurs only once in aps, alert and sound", "RFC 8259, 4"),
        RuleRow(
            .unknownApsKey, .warning, "aps has only keys that Apple defines; custom keys belong beside it", generating),
        RuleRow(
            .unknownAlertKey, .warning, "alert has only keys that Apple defines; sound is one in a liveactivity",
            generating),
        RuleRow(.unknownSoundKey, .warning, "sound has only keys that Apple defines", generating),
        RuleRow(
            .cardNumber, .warning, "no card number in clear text",
            "card numbers: ISO/IEC 7812; " + generating),
        RuleRow(
            .suspectText, .warning,
            "a text has no word for no value, escape, entity, tag or placeholder, and is in its own encoding",
            "this program"),
        RuleRow(
            .nullValue, .warning, "no value beside aps is null, with which apps end or drop the push",
            "Apple Developer Forums, 727395"),

        // The payload and its push type.
        RuleRow(.alertNothingToShow, .error, "an alert push has an alert, a badge or a sound", sending),
        RuleRow(.backgroundShows, .error, "a background push has neither alert nor badge nor sound", background),
        RuleRow(.backgroundContentAvailable, .error, "a background push has content-available 1", background),
        RuleRow(
            .contentChangedMissing, .error, "a widgets or controls push has content-changed true",
            "Apple, Updating widgets with WidgetKit push notifications"),
        RuleRow(.timestampMissing, .error, "a liveactivity push has a timestamp", activities),
        RuleRow(.eventMissing, .error, "a liveactivity push has an event", activities),
        RuleRow(.contentStateMissing, .error, "a liveactivity push has content-state, unless it ends it", activities),
        RuleRow(.startAttributes, .error, "event start comes with attributes-type and attributes", activities),
        RuleRow(.startAlert, .warning, "event start comes with an alert", activities),
        RuleRow(.broadcastStart, .error, "a broadcast cannot start an activity", broadcasts),

        // The app's texts.
        RuleRow(.locKeyMissing, .error, "a loc-key is in the strings file of every language", localising),
        RuleRow(.locKeyArgs, .error, "a format takes as many args as the payload gives", localising),

        // The headers.
        RuleRow(.pushType, .error, "apns-push-type is one of Apple's", sending),
        RuleRow(
            .pushTypeCredentials, .error,
            "mdm requires a client certificate, and location and fileprovider require a provider token",
            "Apple, Sending notification requests to APNs; Using push notifications to signal changes"),
        RuleRow(.topic, .error, "a topic has letters, digits, dots, dashes and underscores", sending),
        RuleRow(.topicProvider, .error, "one of the campaign's providers sends for a row's topic", "the campaign"),
        RuleRow(.topicSuffix, .warning, "a topic ends as its push type asks", sending),
        RuleRow(.priority, .error, "apns-priority is 1, 5 or 10", sending),
        RuleRow(.priorityBackground, .error, "a background push has priority 5", background),
        RuleRow(
            .priorityUnusual, .warning, "a liveactivity push has priority 5 or 10, a pushtotalk push 10",
            activities + "; Creating a Push to Talk app"),
        RuleRow(.expiration, .error, "apns-expiration is seconds since 1970, or 0", sending),
        RuleRow(.expirationMissing, .warning, "a campaign, or each row, has an expiration", sending),
        RuleRow(
            .expirationUnusual, .warning,
            "a voip push expires after a few seconds or is attempted once (0), a pushtotalk push is attempted once",
            "Apple, Responding to VoIP Notifications from PushKit; Creating a Push to Talk app"),
        RuleRow(.collapseID, .error, "apns-collapse-id has 1 to 64 bytes", sending),
        RuleRow(.apnsID, .error, "apns-id is a UUID; upper case is sent in lower case", sending),
        RuleRow(.headerSets, .error, "there are few combinations of topic, push type and priority", "this program"),

        // The campaign.
        RuleRow(.template, .error, "a template compiles, and its columns are in the input", "this program"),
        RuleRow(.unusedColumn, .warning, "every column of the input is used", "this program"),
        RuleRow(
            .certificateExpiry, .warning, "a client certificate is valid for 30 days more",
            "Apple, Establishing a certificate-based connection to APNs"),
        RuleRow(
            .deadlineTooEarly, .warning, "rate, ramp and spread let all rows leave before not_after", "this program"),
    ]
}

extension FieldFault {
    package var rule: Rule {
        switch self {
        case .pushTypeUnknown: .pushType
        case .topicEmpty, .topicTooLong, .topicCharacter: .topic
        case .priorityUnknown: .priority
        case .priorityNotAllowed(let type, _): type == .background ? .priorityBackground : .priority
        case .expirationNotANumber, .expirationWithoutZone, .expirationTooLate, .expirationTooLong, .expirationMissing:
            .expiration
        case .channelID, .channelIDTooLong: .channelID
        case .messageID: .apnsID
        case .collapseIDEmpty, .collapseIDTooLong, .collapseIDCharacter, .collapseIDBlank: .collapseID
        }
    }
}

extension DeviceTokenFault {
    package var rule: Rule { .deviceToken }
}

extension RenderFailure {
    package var rule: Rule {
        switch cause {
        case .notNumber, .notBool: .columnValueType
        case .notJSON: .jsonSyntax
        }
    }
}

extension TemplateError {
    package var rule: Rule {
        if case .json = cause { return .jsonSyntax }
        return .template
    }
}
