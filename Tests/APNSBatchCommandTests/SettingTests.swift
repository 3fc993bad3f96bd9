import APNSBatch
import APNSBatchRecords
import Foundation
import Testing

@testable import APNSBatchCommand

/// What the rows of the table of settings say, held against what the settings do.
@Suite struct SettingTests {
    /// Two values of a setting, and what it needs besides.
    struct Example: Sendable {
        let one: SettingValue
        let other: SettingValue
        var needs: [String: SettingValue] = [:]
    }

    private let place: Place

    init() throws {
        place = try Place()
        try place.write(#"{"aps":{"alert":"Hello"}}"#, to: "u.json")
        for name in ["c", "d"] { try place.write("certificate \(name)", to: "\(name).pem") }
        try place.write("\"a\" = \"b\";\n", to: "a.strings")
        try place.write("\"c\" = \"d\";\n", to: "c.strings")
    }

    private func list(_ items: String...) -> SettingValue { .list(items.map { .text($0) }) }
    private func file(_ name: String) -> SettingValue { .text(place.path(name)) }

    private func texts(_ one: String, _ other: String, needs: [String: SettingValue] = [:]) -> Example {
        Example(one: .text(one), other: .text(other), needs: needs)
    }

    private func files(_ one: String, _ other: String, needs: [String: SettingValue] = [:]) -> Example {
        Example(one: file(one), other: file(other), needs: needs)
    }

    /// An example for each setting; nil for one that has none.
    private func example(of setting: Setting) -> Example? {
        let proxy = ["proxy": SettingValue.text("http://me@h:1")]
        if case .number(let number) = setting.kind, setting.name != "priority" {
            return Example(one: .number(number.range.lowerBound), other: .number(number.range.lowerBound + 1))
        }
        return switch setting.name {
        case "input": files("rows.csv", "more.csv")
        case "inputCommand", "onComplete": Example(one: list("/bin/cat", "a"), other: list("/bin/cat", "b"))
        case "inputQuery":
            Example(
                one: .members(["database": .text("a"), "query": .text("TABLE a")]),
                other: .members(["engine": .text("duckdb"), "query": .text("FROM a")]))
        case "inputTimeout", "inputPatience": texts("20m", "21m")
        case "spool": texts("always", "never")
        case "columns": Example(one: .members(["token": .text("a")]), other: .members(["token": .text("b")]))
        case "only": Example(one: .members(["a": .text("x")]), other: .members(["a": list("x", "y")]))
        case "template": files("t.json", "u.json")
        case "templates", "variants":
            Example(one: .members(["en": file("t.json")]), other: .members(["en": file("u.json")]))
        case "fallback":
            texts("en", "de", needs: ["templates": .members(["en": file("t.json"), "de": file("u.json")])])
        case "strings":
            Example(one: .list([file("a.strings")]), other: .list([file("a.strings"), file("c.strings")]))
        case "encryption":
            Example(one: .members(["keys": list("a")]), other: .members(["keys": list("a", "b")]))
        case "priority": Example(one: .number(10), other: .number(5))
        case "to": texts("production", "sandbox")
        case "simulatorScript": files("a.yaml", "b.yaml", needs: ["to": .text("simulator")])
        case "proxyPasswordFile": files("t.json", "u.json", needs: proxy)
        case "proxyPasswordEnv": texts("PATH", "HOME", needs: proxy)
        case "keyFile", "providerTokenFile", "certificateFile", "certificateKeyFile", "keyPassphraseFile", "caFile",
            "pingUrlFile", "metricsTextfile":
            files("c.pem", "d.pem")
        case "keyId", "teamId", "keyPassphraseEnv": texts("ABC123DEFG", "DEF123GHIJ")
        case "providers":
            Example(
                one: .list([.members(["topics": list("a"), "keyFile": .text("a")])]),
                other: .list([.members(["topics": list("b"), "keyFile": .text("b")])]))
        case "nightStarts": texts("12:00", "13:00")
        case "timezone": texts("Europe/Berlin", "Europe/Paris")
        case "resultsTo":
            Example(one: .members(["database": .text("a")]), other: .members(["database": .text("b")]))
        case "ramp", "spread": texts("1m", "2m", needs: ["rate": .text("10/s")])
        case "stopAt":
            Example(one: .members(["any": .text("5%")]), other: .members(["any": .text("6%")]))
        case "canaryMaxRejected": texts("5%", "6%", needs: ["canary": .number(10)])
        case "sameInput": texts("once", "nightly")
        case "unfinished": texts("report", "continue")
        case "report": texts("files", "none")
        case "onCompletePatience", "pingTimeout", "metricsInterval", "exportPatience":
            Example(one: .number(10), other: .number(11))
        case "webhooks":
            Example(
                one: .list([.members(["urlFile": file("c.pem"), "secretFile": file("c.pem")])]),
                other: .list([.members(["urlFile": file("d.pem"), "secretFile": file("c.pem")])]))
        case "metricsListen": texts("9100", "9101")
        default: ofLibrary(setting)
        }
    }

    /// An example of a text of the library.
    private func ofLibrary(_ setting: Setting) -> Example? {
        let called = setting.key.replacing("_", with: " ")
        guard let text = Campaign.Text.all.first(where: { $0.name == called }) else { return nil }
        let values = (text.furtherExamples + text.words).map { text.isList ? list($0) : .text($0) }
        return values.count < 2 ? nil : Example(one: values[0], other: values[values.count - 1])
    }

    private func settings(_ setting: Setting, _ value: SettingValue, _ example: Example) -> CampaignSettings {
        let base: [String: SettingValue] = ["to": .text("production"), "topic": .text("com.example.app")]
        return CampaignSettings(base.merging(example.needs) { $1 }.merging([setting.name: value]) { $1 })
    }

    private func digest(_ settings: CampaignSettings) throws -> [UInt8] {
        try CampaignDigest.of(settings.campaign(simulator: nil, for: .accounting))
    }

    /// A run that is resumed must refuse other notifications, and must not refuse anything else.
    @Test func `what determines the notifications is in the digest of a campaign, and nothing else`() throws {
        #expect(Setting.all.count > 90)
        for setting in Setting.all {
            let example = try #require(self.example(of: setting), "\(setting.name): give this test an example of it")
            let one = try digest(settings(setting, example.one, example))
            let other = try digest(settings(setting, example.other, example))
            #expect((one != other) == (setting.scope == .notification), "\(setting.name)")
        }
    }

    @Test func `what may change during a run reaches the run, and nothing else`() throws {
        for setting in Setting.all {
            let example = try #require(self.example(of: setting))
            let one = try settings(setting, example.one, example).live()
            let other = try settings(setting, example.other, example).live()
            #expect((one != other) == setting.isLive, "\(setting.name)")
        }
        #expect(Setting.all.count(where: \.isLive) == 5)
    }

    /// What is copied for the parts of a run is the same for all parts and on all machines.
    @Test func `what determines the notifications is kept in parts, or is about the rows`() {
        for setting in Setting.all where setting.scope == .notification {
            let isOfRows = ["delimiter", "escape"].contains(setting.name)
            #expect(setting.parts == (isOfRows ? .replaced : .kept), "\(setting.name)")
        }
        // Each machine has a file or a variable with the password of its proxy.
        let secrets = Setting.all.filter { $0.scope == .secret && $0.parts == .kept }.map(\.name)
        #expect(secrets == ["proxyPasswordFile", "proxyPasswordEnv"])
    }

    @Test func `a correction refuses flags of what it does not have`() throws {
        for setting in Setting.all {
            let example = try #require(self.example(of: setting))
            var flags = settings(setting, example.one, example)
            if setting.name != "input" { flags.values["input"] = file("rows.csv") }
            var said = ""
            do {
                _ = try CampaignCall(flags: flags, file: nil, correcting: place.path("run"))
            } catch { said = "\(error)" }
            let refusal = "\(SettingName.flag(setting.name)): a correction has none"
            #expect((said == refusal) == !setting.correction.isOfFlags, "\(setting.name): \(said)")
        }
        #expect(Setting.all.filter { !$0.correction.isOfFile }.map(\.name).sorted() == Self.ofNight)
    }

    private static let ofNight = [
        "campaignId", "expect", "fromRow", "input", "inputCommand", "inputQuery", "inputTimeout", "minRows",
        "requireFresh", "spool",
    ]

    /// Nothing is noted in a history that may be another campaign's.
    @Test func `a file with faults is not read if they are in what finds the history`() throws {
        for setting in Setting.all {
            let file = try place.write("\(setting.key): { a: [[1]] }\n", to: "f.yaml")
            #expect((CampaignFile.readable(file) == nil) == setting.findsHistory, "\(setting.name)")
        }
        #expect(Setting.all.count { $0.findsHistory } == 3)
    }

    /// Its driver passes on to `provider-token` what it is given for it.
    @Test func `the Python package has the settings of a signing key and a provider token`() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let source = try String(contentsOf: root.appending(path: "python/src/apns_batch/_campaign.py"), encoding: .utf8)
        let list = try #require(source.firstMatch(of: #/\nCREDENTIALS = \(([^)]*)\)/#)?.1)
        let keys = Setting.credentialsOfProvider.filter { !$0.name.hasPrefix("certificate") }.map(\.key)
        #expect(list.matches(of: #/"(\w+)"/#).map { String($0.1) }.sorted() == keys.sorted())
    }
}
