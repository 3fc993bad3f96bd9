import APNSBatchCredentials
import APNSBatchIdentities
import APNSBatchNotification
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

/// A campaign that breaks one rule, and the line that reports it.
struct RuleCase: Sendable, CustomTestStringConvertible {
    var rule: Rule
    /// The CSV columns after the column `token` and, if there is no template, the column `payload`.
    var columns = ""
    var fields = ""
    var payload: String?
    var template: String?
    var change: @Sendable (inout StagedCampaign) -> Void = { _ in }
    /// The expected line, without the directory of the input.
    var line: String

    var testDescription: String { rule.rawValue }
}

@Suite("Rules of the reference table") struct RuleTests {
    static let quotes = #""{""aps"":{""alert"":"#

    static let cases: [RuleCase] = [
        // Rules for rows.
        RuleCase(
            rule: .csvRow, columns: ",name", fields: "", template: #"{"aps":{"alert":"{{name}}"}}"#,
            line: "rows.csv:2:65: expected 2 fields, found 1"),
        RuleCase(
            rule: .columnValueType, columns: ",badge", fields: ",five",
            template: #"{"aps":{"badge":"{{badge:number}}"}}"#,
            line: #"rows.csv:2:66: badge: expected a number, found "five""#),
        RuleCase(
            rule: .variantUnknown, columns: ",variant", fields: ",B",
            change: { $0.templates = .init(by: .variant, ["A": alert], fallback: nil) },
            line: #"rows.csv:2:66: variant: expected one of A, found "B""#),
        RuleCase(
            rule: .recipientKey, columns: ",public_key", fields: ",nokey",
            template: #"{"aps":{"alert":"a"},"secret_text":"b"}"#,
            change: { $0.encryption = .init(keys: ["secret_text"]) },
            line: """
                rows.csv:2:66: public_key: expected an RSA public key of 2048 bits or more (PEM or base64 DER), found text \
                that is neither PEM nor base64
                """),
        // Rules for the payload as a whole.
        RuleCase(
            rule: .jsonSyntax, payload: #"{"aps":{"alert":"a",}}"#,
            line: "rows.csv:2:67: payload: not valid JSON at line 1, column 20: trailing comma"),
        RuleCase(
            rule: .payloadSize, payload: #"{"aps":{"alert":"\#(String(repeating: "x", count: 4096))"}}"#,
            line: "rows.csv:2:67: payload: expected at most 4096 bytes, found 4116"),
        RuleCase(
            rule: .apsMissing, payload: #"{"a":1}"#,
            line: "rows.csv:2:67: payload: expected an object named aps in a push of type alert, found none"),
        RuleCase(
            rule: .apsType, payload: #"{"aps":1}"#, change: { $0.headers.pushType = "voip" },
            line: "rows.csv:2:67: aps: expected an object, found 1"),
        RuleCase(
            rule: .keyType, payload: #"{"aps":{"badge":"five"}}"#,
            line: #"rows.csv:2:67: aps.badge: expected a whole number, found "five""#),
        RuleCase(
            rule: .keyRange, columns: ",badge", fields: ",-1", template: #"{"aps":{"badge":"{{badge:number}}"}}"#,
            line: "rows.csv:2:66: aps.badge: expected a whole number of at least 0, found -1"),
        RuleCase(
            rule: .mutableContentTrue, payload: #"{"aps":{"alert":"a","mutable-content":true}}"#,
            line: "rows.csv:2:67: aps.mutable-content: expected 0 or 1, found true"),
        RuleCase(
            rule: .duplicateKey, payload: #"{"aps":{"alert":"a","alert":"b"}}"#,
            line: "rows.csv:2:67: aps.alert: this key occurs twice"),
        RuleCase(
            rule: .unknownApsKey, template: #"{"aps":{"alert":"a","thread_identifier":"b"}}"#,
            line:
                #"t.json:1:21: aps.thread_identifier: unknown key; did you mean "thread-id"? custom keys belong beside aps"#
        ),
        RuleCase(
            rule: .unknownAlertKey, template: #"{"aps":{"alert":{"title":"a","text":"b"}}}"#,
            line: "t.json:1:30: aps.alert.text: unknown key; did you mean \"body\"?"),
        RuleCase(
            rule: .unknownSoundKey, payload: #"{"aps":{"sound":{"name":"a","volumne":1}}}"#,
            line: #"rows.csv:2:67: aps.sound.volumne: unknown key; did you mean "volume"?"#),
        RuleCase(
            rule: .cardNumber, columns: ",text", fields: ",4111 1111 1111 1111",
            template: #"{"aps":{"alert":"{{text}}"}}"#,
            line: "rows.csv:2:66: aps.alert: what looks like a card number, in clear text"),
        RuleCase(
            rule: .suspectText, columns: ",text", fields: ",\\N", template: #"{"aps":{"alert":"Hi {{text|there}}"}}"#,
            line: #"rows.csv:2:66: text: found "\N", a word for no value; an empty field takes the default"#),
        RuleCase(
            rule: .nullValue, payload: #"{"aps":{"alert":"a"},"order":{"id":null}}"#,
            line: "rows.csv:2:67: order.id: found null, which not every app survives; leave the key out"),
        // Rules for the payload and its push type.
        RuleCase(
            rule: .alertNothingToShow, payload: #"{"aps":{"category":"a"}}"#,
            line: "rows.csv:2:67: aps: expected an alert, a badge or a sound in a push of type alert, found none"),
        RuleCase(
            rule: .backgroundShows, template: #"{"aps":{"content-available":1,"alert":"a"}}"#,
            change: { $0.headers.pushType = "background" },
            line: "t.json:1:31: aps.alert: expected no alert, badge or sound in a push of type background"),
        RuleCase(
            rule: .backgroundContentAvailable, payload: #"{"aps":{}}"#,
            change: { $0.headers.pushType = "background" },
            line: "rows.csv:2:67: aps.content-available: expected 1 in a push of type background, found nothing"),
        RuleCase(
            rule: .contentChangedMissing, payload: #"{"aps":{}}"#, change: { $0.headers.pushType = "widgets" },
            line: "rows.csv:2:67: aps.content-changed: expected true in a push of type widgets, found nothing"),
        RuleCase(
            rule: .timestampMissing, payload: #"{"aps":{"event":"update","content-state":{}}}"#,
            change: { $0.headers.pushType = "liveactivity" },
            line: """
                rows.csv:2:67: aps.timestamp: expected whole seconds since 1970 in a push of type liveactivity, found \
                nothing
                """),
        RuleCase(
            rule: .eventMissing, payload: #"{"aps":{"timestamp":1,"content-state":{}}}"#,
            change: { $0.headers.pushType = "liveactivity" },
            line: """
                rows.csv:2:67: aps.event: expected start, update or end in a push of type liveactivity, found nothing
                """),
        RuleCase(
            rule: .contentStateMissing, payload: #"{"aps":{"timestamp":1,"event":"update"}}"#,
            change: { $0.headers.pushType = "liveactivity" },
            line: """
                rows.csv:2:67: aps.content-state: expected an object in a push of type liveactivity that does not end the \
                activity, found nothing
                """),
        RuleCase(
            rule: .startAttributes,
            payload: #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes":{}}}"#,
            change: { $0.headers.pushType = "liveactivity" },
            line: #"rows.csv:2:67: aps.attributes-type: required with event "start", found nothing"#),
        RuleCase(
            rule: .startAlert,
            payload:
                #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","attributes":{}}}"#,
            change: { $0.headers.pushType = "liveactivity" },
            line: #"rows.csv:2:67: aps.alert: required with event "start", found nothing"#),
        // Rules for the app's texts.
        RuleCase(
            rule: .locKeyMissing, columns: ",key", fields: ",B",
            template: #"{"aps":{"alert":{"loc-key":"{{key}}","loc-args":["x"]}}}"#, change: { $0.strings = strings },
            line: #"rows.csv:2:66: aps.alert.loc-key: no "B" in the strings of de"#),
        RuleCase(
            rule: .locKeyArgs, template: #"{"aps":{"alert":{"loc-key":"A","loc-args":["x"]}}}"#,
            change: { $0.strings = strings },
            line: #"t.json:1:28: aps.alert.loc-key: "A" takes 2 arguments in de, found 1"#),
        // Rules for the header fields.
        RuleCase(
            rule: .pushType, columns: ",push_type", fields: ",alerts", template: hi,
            line: """
                rows.csv:2:66: push_type: expected alert, background, voip, complication, fileprovider, location, \
                liveactivity, pushtotalk, widgets, controls or mdm, found "alerts"
                """),
        RuleCase(
            rule: .pushTypeCredentials, columns: ",push_type", fields: ",mdm", template: hi,
            change: { $0.credentials = .providerToken(keyPEM: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ") },
            line: "rows.csv:2:66: push_type: APNs accepts a push of type mdm only with a client certificate"),
        RuleCase(
            rule: .topic, columns: ",topic", fields: ",com example", template: hi,
            line: #"rows.csv:2:66: topic: expected letters, digits, '.', '-' or '_', found " " at byte 4"#),
        RuleCase(
            rule: .topicProvider, columns: ",topic", fields: ",com.example.other", template: hi,
            change: {
                $0.headers.topic = nil
                $0.providers = [Campaign.Provider(topics: ["com.example.app"], credentials: .none)]
            },
            line: #"rows.csv:2:66: topic: no provider covers "com.example.other""#),
        RuleCase(
            rule: .topicSuffix, columns: ",topic", fields: ",com.example.app.voip", template: hi,
            line: """
                rows.csv:2:66: topic: "com.example.app.voip" has the suffix of push type voip, but the push has another \
                type
                """),
        RuleCase(
            rule: .priority, columns: ",priority", fields: ",7", template: hi,
            line: #"rows.csv:2:66: priority: expected 1, 5 or 10, found "7""#),
        RuleCase(
            rule: .priorityBackground, columns: ",priority", fields: ",10",
            template: #"{"aps":{"content-available":1}}"#, change: { $0.headers.pushType = "background" },
            line: "rows.csv:2:66: priority: a push of type background must have priority 5, found 10"),
        RuleCase(
            rule: .priorityUnusual, columns: ",priority", fields: ",1",
            template: #"{"aps":{"timestamp":1,"event":"end"}}"#, change: { $0.headers.pushType = "liveactivity" },
            line: "rows.csv:2:66: priority: a push of type liveactivity should have priority 10 or 5, found 1"),
        RuleCase(
            rule: .expirationUnusual, columns: ",expiration", fields: ",4102444800", template: hi,
            change: { $0.headers.pushType = "voip" },
            line: """
                rows.csv:2:66: expiration: a push of type voip should be attempted once (0) or expire after a few seconds; found \
                2100-01-01T00:00:00Z
                """),
        RuleCase(
            rule: .expiration, columns: ",expiration", fields: ",soon", template: hi,
            line: """
                rows.csv:2:66: expiration: expected seconds since 1970, 0, a time such as 2026-01-01T08:00:00Z or a \
                duration such as 2h, found "soon"
                """),
        RuleCase(
            rule: .expirationMissing, template: hi,
            line: "expiration: none given, so APNs stores a push for up to 30 days; give a time, a duration or 0"),
        RuleCase(
            rule: .collapseID, columns: ",collapse_id", fields: "," + String(repeating: "c", count: 65), template: hi,
            line: "rows.csv:2:66: collapse_id: expected at most 64 bytes, found 65"),
        RuleCase(
            rule: .apnsID, columns: ",apns_id", fields: ",1", template: hi,
            line: #"rows.csv:2:66: apns_id: expected a UUID, 8-4-4-4-12 hex digits, found "1""#),
    ]

    /// Rules that have their tests elsewhere, since it takes more than one row and one campaign to break them.
    static let elsewhere: [Rule: String] = [
        .deviceToken: "badToken", .tokenSize: "oddToken", .duplicateToken: "sameToken", .unusedColumn: "unusedColumns",
        .headerSets: "tooManyHeaderSets", .template: "brokenTemplate", .ndjsonRow: "badObject",
        .emptyRow: "emptyRow", .repeatedHeader: "repeatedHeader",
        .channelID: "broadcast", .broadcastStart: "broadcast",
        .certificateExpiry: "certificate", .deadlineTooEarly: "tooEarly",
    ]

    private static let key = try! SigningKey.generate().privateKeyPEM
    private static let hi = #"{"aps":{"alert":"Hi"}}"#
    private static let alert = Campaign.Template(json: Array(hi.utf8), name: "a.json")
    private static let strings = [
        Campaign.Strings(
            language: "de", content: Array(#""A" = "%@ und %@";"#.utf8), name: "de.lproj/Localizable.strings")
    ]

    @Test("Violations of channel-id and broadcast-start are reported")
    func broadcast() async throws {
        let findings = try await check("channel_id,event\nnot base64,update\ndGVzdC1jaGFubmVsLTAwMQ==,start\n") {
            $0.recipients = .channels(bundleID: "com.example.app")
            $0.headers.pushType = "liveactivity"
            $0.headers.expiration = .after(.seconds(60))
            $0.template = .init(
                json: Array(#"{"aps":{"timestamp":1,"event":"{{event}}","content-state":{}}}"#.utf8), name: "t.json")
        }
        let byRule = Dictionary(findings.map { ($0.rule, $0.text) }, uniquingKeysWith: { first, _ in first })
        #expect(
            byRule["channel-id"]?.hasSuffix(#"rows.csv:2:1: channel_id: expected base64, found "not base64""#) == true)
        #expect(
            byRule["broadcast-start"]?.hasSuffix(
                #"rows.csv:3:26: aps.event: expected update or end in a broadcast, found "start""#) == true)
    }

    private func check(_ rows: String, _ change: (inout StagedCampaign) -> Void) async throws -> [CampaignFinding] {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: rows)
        campaign.credentials = .none
        change(&campaign)
        let report = try await CampaignCheck(campaign).run()
        return report.campaign + report.groups.flatMap(\.examples)
    }

    @Test("Each violation is reported with rule, severity and place", arguments: cases)
    func broken(_ broken: RuleCase) async throws {
        let raw = broken.payload.map {
            "," + "\"" + $0.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }
        let header = "token\(raw == nil ? "" : ",payload")\(broken.columns)\n"
        let findings = try await check("\(header)\(token(1))\(raw ?? "")\(broken.fields)\n") { campaign in
            if let template = broken.template { campaign.template = .init(json: Array(template.utf8), name: "t.json") }
            broken.change(&campaign)
        }
        let found = findings.filter { $0.rule == broken.rule.rawValue }
        let lines = found.map { finding in
            // The directory that the test created is removed from the text.
            finding.file.map { finding.text.replacing($0, with: URL(filePath: $0).lastPathComponent) } ?? finding.text
        }
        #expect(lines == [broken.line])
        #expect(found.allSatisfy { $0.severity.rawValue == broken.rule.severity.rawValue })
    }

    @Test("Every rule has a test")
    func complete() {
        let tested = Set(Self.cases.map(\.rule)).union(Self.elsewhere.keys)
        #expect(Rule.allCases.filter { !tested.contains($0) } == [])
    }

    @Test("A violation of device-token is reported")
    func badToken() async throws {
        let findings = try await check("token\nxy\n") { $0.template = Self.alert }
        #expect(
            findings.last?.text.hasSuffix("rows.csv:2:1: token: expected hex digits, found \"x\" at byte 1") == true)
        #expect(findings.last?.rule == "device-token")
    }

    @Test("A violation of empty-row is reported, and a row with one field is none")
    func emptyRow() async throws {
        let findings = try await check("token,a,b,c\n\(token(1)),,,\n,,,\n\" \", ,,\n,,x,\n") {
            $0.template = Self.alert
        }
        let found = findings.filter { $0.rule == "empty-row" }
        #expect(found.map(\.row) == [2, 3] && found.map(\.severity) == [.error, .error])
        #expect(
            found.first?.text.contains("rows.csv:3:1: all fields of the row are empty (\"token\", \"a\", \"b\", …): ")
                == true)
        #expect(findings.contains { $0.rule == "device-token" && $0.row == 4 })
    }

    @Test("A violation of repeated-header is reported, also with a byte order mark")
    func repeatedHeader() async throws {
        let rows = "token,a\n\(token(1)),a\ntoken,a\n\u{FEFF}token,a\ntoken,b\n"
        let findings = try await check(rows) { $0.template = Self.alert }
        let found = findings.filter { $0.rule == "repeated-header" }
        #expect(found.map(\.row) == [2, 3])
        #expect(found.first?.text.contains("rows.csv:3:1: this is the header row once more: ") == true)
        #expect(findings.contains { $0.rule == "device-token" && $0.row == 4 })
    }

    @Test("A violation of ndjson-row is reported")
    func badObject() async throws {
        let findings = try await check("{\"token\":\"\(token(1))\"\n") { $0.template = Self.alert }
        let text = "rows.csv:1:76: expected \",\", or the end of the object or array"
        #expect(findings.last?.text.hasSuffix(text) == true, "\(findings)")
        #expect(findings.last?.rule == "ndjson-row")
    }

    @Test("A violation of token-size is reported, and the row stays valid")
    func oddToken() async throws {
        let findings = try await check("token\n\(token(1))\n12345678\n") { $0.template = Self.alert }
        let found = findings.filter { $0.rule == "token-size" }
        #expect(found.map(\.row) == [2] && found.map(\.severity) == [.warning])
        #expect(
            found.first?.message
                == "token: expected 64 hex digits, as all tokens have today, found 8; the row is sent anyway")
        #expect(findings.allSatisfy { $0.severity == .warning })
    }

    @Test("A violation of duplicate-token is reported")
    func sameToken() async throws {
        let findings = try await check("token\n\(token(1))\n\(token(2))\n\(token(1))\n") { $0.template = Self.alert }
        let found = findings.filter { $0.rule == "duplicate-token" }
        #expect(found.map(\.row) == [3] && found.map(\.severity) == [.warning])
        #expect(found.first?.text.hasSuffix("rows.csv:4:1: token: row 1 has the same token") == true)
    }

    @Test(
        "A violation of unused-column is reported with the most similar name",
        arguments: [
            ("colapse_id", #"column "colapse_id": nothing uses it; did you mean "collapse_id"?"#),
            ("prio", #"column "prio": nothing uses it; did you mean "priority"?"#),
            ("apns-collapse-id", #"column "apns-collapse-id": nothing uses it; did you mean "collapse_id"?"#),
            ("Push Type", #"column "Push Type": nothing uses it; did you mean "push_type"?"#),
            (
                "locale",
                #"column "locale": nothing uses it; it selects one of several templates, but there is only one"#
            ),
            ("user", #"column "user": nothing uses it"#),
            ("user,segment", #"columns "user", "segment": nothing uses them"#),
            (String(repeating: "ab", count: 32), #"column "abababababab…": nothing uses it"#),
        ])
    func unusedColumns(columns: String, message: String) async throws {
        let fields = String(repeating: ",x", count: columns.split(separator: ",").count)
        let findings = try await check("token,\(columns)\n\(token(1))\(fields)\n") { $0.template = Self.alert }
        let found = findings.filter { $0.rule == "unused-column" }
        #expect(found.map(\.message) == [message] && found.map(\.severity) == [.warning])
        #expect(found.first?.text.hasSuffix("rows.csv:1:1: \(message)") == true)
    }

    @Test("A column that anything uses, even only the results, is not reported as unused")
    func usedColumns() async throws {
        let findings = try await check("token,a,b,c,locale,priority,user\n\(token(1)),a,b,c,de,5,u\n") {
            $0.resultColumns = ["user"]
            $0.templates = .init(
                by: .locale,
                [
                    "de": .init(json: Array(#"{"aps":{"alert":"{{a?}}"}}"#.utf8), name: "de.json"),
                    "en": .init(json: Array(#"{"aps":{"alert":"{{b|x}}"}}"#.utf8), name: "en.json"),
                ], fallback: "en")
            $0.headers.collapseID = "{{c|none}}"
        }
        #expect(findings.filter { $0.rule == "unused-column" } == [])
    }

    @Test(
        "A violation of deadline-too-early is reported",
        arguments: [
            (Campaign.RateLimit(rate: .init(1, per: .second)), "60 of 100 rows"),
            (Campaign.RateLimit(rate: .init(100, per: .second), ramp: .seconds(6000)), "89 of 100 rows"),
            (Campaign.RateLimit(rate: .init(2, per: .second), ramp: .seconds(60)), "90 of 100 rows"),
            (Campaign.RateLimit(spread: .seconds(240)), "25 of 100 rows"),
            (Campaign.RateLimit(spread: .seconds(60)), nil),
            (Campaign.RateLimit(rate: .init(2, per: .second)), nil), (Campaign.RateLimit(), nil),
        ])
    func tooEarly(limit: Campaign.RateLimit, found: String?) async throws {
        let rows = (1...101).map { $0 == 7 ? "bad\n" : "\(token($0))\n" }.joined()
        let findings = try await check("token\n" + rows) {
            $0.template = Self.alert
            $0.rateLimit = limit
            $0.notAfter = .after(.seconds(60))
        }
        let late = findings.filter { $0.rule == "deadline-too-early" }
        #expect(late.count == (found == nil ? 0 : 1))
        if let found { #expect(late.first?.message.contains("at most \(found) before 20") == true, "\(late)") }
    }

    @Test("A violation of header-sets is reported")
    func tooManyHeaderSets() async throws {
        let rows = (1...4097).map { "\(token($0)),com.example.app\($0)\n" }.joined()
        let findings = try await check("token,topic\n" + rows) {
            $0.template = Self.alert
            $0.lanes = 1
        }
        #expect(
            findings.last?.text.hasSuffix(
                "rows.csv:4098:1: more than 4096 combinations of topic, push_type and priority")
                == true)
        #expect(findings.last?.rule == "header-sets")
    }

    @Test("A violation of certificate-expiry is reported")
    func certificateExpiry() async throws {
        let soon = try SelfSignedClient.make(userID: "com.example.app", commonName: "Soon", days: 20)
        let findings = try await check("token\n\(token(1))\n") {
            $0.template = Self.alert
            $0.credentials = .certificate(chainPEM: soon.certificatePEM, keyPEM: soon.keyPEM)
        }
        let found = findings.filter { $0.rule == "certificate-expiry" }
        #expect(found.map(\.severity) == [.warning])
        #expect(found.first?.message.hasPrefix("client certificate \"Soon\" expires on 2") == true)
        #expect(
            found.first?.message.hasSuffix("in 20 days") == true || found.first?.message.hasSuffix("in 19 days") == true
        )
    }

    @Test("A violation of template is reported")
    func brokenTemplate() async {
        await #expect(throws: CampaignError.self) {
            try await check("token\n\(token(1))\n") {
                $0.template = .init(json: Array(#"{"a":"{{b}}"}"#.utf8), name: "t")
            }
        }
    }
}
