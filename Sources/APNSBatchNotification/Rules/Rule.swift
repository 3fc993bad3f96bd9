/// A rule that a campaign, a row, a header or a payload can break. What each says and where it comes from stands in the
/// table of ``RuleRow``; the raw value is its name in `findings.csv` and in the documentation.
package enum Rule: String, CaseIterable, Sendable {
    // The row.
    case csvRow = "csv-row"
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
}

extension Rule {
    package enum Severity: String, Sendable {
        /// APNs would refuse the push, or a device could not use it: it is not sent.
        case error
        /// The push is sent; somebody should look.
        case warning
    }

    package var severity: Severity { row.severity }

    /// What it asks for: a sentence without a full stop.
    package var about: String { row.about }

    /// Who says so.
    package var source: String { row.source }

    /// A dictionary and not a position: rows are looked up only where something was found.
    private var row: RuleRow { RuleRow.byRule[self].unsafelyUnwrapped }
}
