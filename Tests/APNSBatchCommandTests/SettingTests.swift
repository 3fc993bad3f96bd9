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
        if case .number(let number) = setting.kind {
            return Example(one: .number(number.range.lowerBound), other: .number(number.range.lowerBound + 1))
        }
        return switch setting.name {
        case "input": files("rows.csv", "more.csv")
        case "inputCommand", "onComplete": Example(one: list("/bin/cat", "a"), other: list("/bin/cat", "b"))
        case "inputQuery":
            Example(
                one: .members(["database": .text("a"), "query": .text("TABLE a")]),
                other: .members(["engine": .text("duckdb"), "query": .text("FROM a")]))
        case "inputTimeout", "inputPatience", "requireFresh", "notAfter": texts("20m", "21m")
        case "spool": texts("always", "never")
        case "format": texts("csv", "ndjson")
        case "delimiter": texts(";", "tab")
        case "escape": texts("none", "backslash")
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
        case "topic": texts("com.example.a", "com.example.b")
        case "pushType": texts("alert", "background")
        case "priority": Example(one: .number(10), other: .number(5))
        case "expiration": texts("1h", "2h")
        case "collapseId": texts("a", "b")
        case "campaignId":
            texts("0c5ae5a4-9d9b-4a3f-9a53-5b2b9a3f6f10", "0c5ae5a4-9d9b-4a3f-9a53-5b2b9a3f6f11")
        case "to": texts("production", "sandbox")
        case "simulatorScript": files("a.yaml", "b.yaml", needs: ["to": .text("simulator")])
        case "proxy": texts("http://a:1", "http://b:1")
        case "proxyPasswordFile": files("t.json", "u.json", needs: proxy)
        case "proxyPasswordEnv": texts("PATH", "HOME", needs: proxy)
        case "keyFile", "providerTokenFile", "certificateFile", "certificateKeyFile", "keyPassphraseFile", "caFile",
            "rateShared", "stateDir", "runDir", "pingUrlFile", "metricsTextfile":
            files("c.pem", "d.pem")
        case "keyId", "teamId", "keyPassphraseEnv": texts("ABC123DEFG", "DEF123GHIJ")
        case "providers":
            Example(
                one: .list([.members(["topics": list("a"), "keyFile": .text("a")])]),
                other: .list([.members(["topics": list("b"), "keyFile": .text("b")])]))
        case "name": texts("one", "other")
        case "nightStarts": texts("12:00", "13:00")
        case "timezone": texts("Europe/Berlin", "Europe/Paris")
        case "onUnknown": texts("resend", "report")
        case "resultColumns", "reportBy": Example(one: list("a"), other: list("b"))
        case "resultsTo":
            Example(one: .members(["database": .text("a")]), other: .members(["database": .text("b")]))
        case "rate": texts("10/s", "20/s")
        case "ramp", "spread": texts("1m", "2m", needs: ["rate": .text("10/s")])
        case "stopAt":
            Example(one: .members(["any": .text("5%")]), other: .members(["any": .text("6%")]))
        case "canary": Example(one: .number(10), other: .number(20))
        case "canaryMaxRejected": texts("5%", "6%", needs: ["canary": .number(10)])
        case "loop": texts("io_uring", "epoll")
        case "expect": Example(one: list("accepted > 0"), other: list("accepted > 1"))
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
        default: nil
        }
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
}
