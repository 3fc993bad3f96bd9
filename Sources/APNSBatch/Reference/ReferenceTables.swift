import APNSBatchNotification

/// The tables of this program about APNs, as Markdown: the content of docs/reference/rules.md. They are generated from
/// the tables that the program itself uses, so that the two cannot differ.
public enum ReferenceTables {
    /// The tables as one document. Making it takes some milliseconds.
    public static var markdown: String {
        """
        # Rules and answers of APNs

        `apns-batch reference > docs/reference/rules.md` generates this file from the tables in the code, and a test compares the
        two. A source without a publisher is a page of Apple's developer documentation. Each row is tested: the named test
        runs over all rows of its table.

        """
            + section("Hosts", ["use", "environment", "host", "ports", "source", "test"], hosts)
            + section(
                "Push types", ["push type", "topic", "payload", "priority", "asks for", "source", "test"], pushTypes)
            + section("Header fields of a request", ["field", "rule", "HPACK", "source", "test"], headers)
            + section("Header fields of a broadcast", ["field", "rule", "HPACK", "source", "test"], broadcastHeaders)
            + section("Keys of a payload", ["key", "value", "meaning", "source", "test"], keys)
            + section("Rules", ["rule", "severity", "asks that", "source", "test"], rules)
            + section("Answers", ["reason", "status", "meaning", "what is done", "source", "test"], answers)
            + section(
                "Answers without a known reason", ["status", "what is done", "meaning", "source", "test"], statuses)
    }

    private static func section(_ title: String, _ names: [String], _ rows: [[String]]) -> String {
        let lines = [names, names.map { _ in "---" }] + rows
        return "\n## \(title)\n\n" + lines.map { "| \($0.map(escape).joined(separator: " | ")) |\n" }.joined()
    }

    /// Escapes bars, which would end the cell.
    private static func escape(_ cell: String) -> String {
        cell.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }

    private static let sending = "Sending notification requests to APNs"
    private static let broadcasting = "Sending broadcast push notification requests to APNs"

    private static func code(_ text: String) -> String { "`\(text)`" }

    private static var hosts: [[String]] {
        APNSHost.all.map { host in
            [
                host.use == .push ? "pushes and broadcasts" : "channel management",
                host.environment == .production ? "production" : "sandbox", code(host.name),
                host.ports.map(String.init).joined(separator: ", "),
                host.use == .push ? sending : "Sending channel management requests to APNs", code("RequestTests"),
            ]
        }
    }

    private static var pushTypes: [[String]] {
        PushTypeRule.all.map { rule in
            [
                code(rule.name), rule.topicText, "\(rule.payloadLimit) bytes",
                rule.priorities.map(\.text).joined(separator: ", "), rule.contentText, rule.source,
                code("PushTypeTests"),
            ]
        }
    }

    private static var headers: [[String]] {
        RequestHeader.all.map { [code($0.name), $0.rule, $0.indexing.text, $0.source ?? sending, code("HeaderTests")] }
    }

    private static var broadcastHeaders: [[String]] {
        RequestHeader.ofBroadcasts.map {
            [code($0.name), $0.rule, $0.indexing.text, $0.source ?? broadcasting, code("CampaignWireTests")]
        }
    }

    private static var keys: [[String]] {
        PayloadKey.all.map { key in
            let path = key.parent == .payload ? key.name : "\(key.parent.path).\(key.name)"
            let only = key.pushType.map { " (\($0.name) only)" } ?? ""
            let note = key.note + (key.isLegacy ? " (older systems)" : only)
            let range = key.form.expectedRange + (key.form == .score ? "; any number in a liveactivity" : "")
            return [code(path), range, note, key.source, code("KeyRuleTests")]
        }
    }

    private static var rules: [[String]] {
        RuleRow.all.map { [code($0.rule.rawValue), $0.severity.rawValue, $0.about, $0.source, code("RuleTests")] }
    }

    private static var answers: [[String]] {
        AnswerRule.all.map {
            [code($0.text), String($0.status), $0.note, $0.action.text, $0.scope.source, code("AnswerTests")]
        }
    }

    private static var statuses: [[String]] {
        StatusRule.all.map { rule in
            let last = rule.statuses.upperBound == .max ? "other" : String(rule.statuses.upperBound)
            let first = String(rule.statuses.lowerBound)
            return [
                last == "other" || first == last ? last : "\(first) to \(last)", rule.action.text, rule.note,
                "RFC 9110, 15; RFC 6585, 4", code("AnswerTests"),
            ]
        }
    }
}

extension PushTypeRule {
    fileprivate var topicText: String {
        switch topicForm {
        case .bundleID: "bundle id"
        case .suffixed(let suffix): "bundle id and `\(suffix)`"
        case .certificateUserID: "UID of the certificate's subject"
        }
    }

    fileprivate var contentText: String {
        let authentication =
            switch authentication {
            case .tokenOrCertificate: ""
            case .tokenOnly: "; a provider token"
            case .certificateOnly: "; a client certificate"
            }
        let content =
            switch content {
            case .visible: "an alert, a badge or a sound"
            case .silent: "`content-available: 1`, no alert, badge or sound"
            case .contentChanged: "`content-changed: true`"
            case .activity: "a `timestamp` and an `event`"
            case .free: "nothing in particular"
            }
        let expiration =
            switch lifetime {
            case .any: ""
            case .seconds: "; an expiration of 0 or a few seconds"
            case .once: "; expiration 0, which is sent unless another is given"
            }
        let priority =
            usualPriorities == priorities ? "" : "; priority " + usualPriorities.map(\.text).joined(separator: " or ")
        return content + priority + expiration + authentication
    }
}

extension HeaderIndexing {
    fileprivate var text: String {
        switch self {
        case .indexed: "indexed"
        case .literal: "literal, never in the table"
        case .nameOnce: "indexed once, literal afterwards"
        }
    }
}

extension AnswerAction {
    fileprivate var text: String {
        switch self {
        case .accepted: "accepted"
        case .rejected(.none): "final"
        case .rejected(.quarantine): "final; keep the token, it may be valid in the other environment"
        case .rejected(.delete): "final; delete the token if it was registered before the timestamp"
        case .stop: "stops the campaign, exit 69"
        case .retry(let retry): retry.text
        }
    }
}

extension Retry {
    fileprivate var text: String {
        var parts = [delay == .none ? "sent again at once" : delay == .short ? "sent again soon" : "sent again later"]
        if connection == .replace { parts.append("on a new connection") }
        switch token {
        case .keep: break
        case .renew: parts.append("with a new provider token")
        case .pause: parts.append("no provider token is made for 20 minutes while the last one can be used")
        }
        if case .stop(let after) = limit {
            parts.append("stops the campaign after \(after) such answer\(after == 1 ? "" : "s")")
        }
        return parts.joined(separator: ", ")
    }
}

extension AnswerRule.Scope {
    fileprivate var source: String {
        switch self {
        case .device: "Handling notification responses from APNs"
        case .channels: "Handling error responses from Apple Push Notification service"
        }
    }
}
