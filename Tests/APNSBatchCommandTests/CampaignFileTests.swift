import Foundation
import Testing

@testable import APNSBatchCommand

/// What is wrong with a campaign file, with its place.
@Suite struct CampaignFileTests {
    private let place: Place

    init() throws { place = try Place() }

    /// What is said of a campaign file, without its name. Flags give what a campaign needs.
    private func faults(_ yaml: Data) throws -> [String] {
        try faults(yaml, .sending, ["template": .text(place.path("t.json")), "to": .text("simulator")])
    }

    private func faults(
        _ yaml: Data, _ use: Judged.Use, _ settings: [String: SettingValue]
    ) throws -> [String] {
        let file = try place.write(yaml, to: "c.yaml")
        let input = ["input": SettingValue.text(place.path("rows.csv"))]
        let judged = Judged(use, file: file, settings.merging(input) { $1 })
        #expect(judged.code == 64, "\(judged)")
        return judged.lines.map { $0.hasPrefix(file) ? String($0.dropFirst(file.count)) : $0 }
    }

    private func faults(_ yaml: String) throws -> [String] { try faults(Data(yaml.utf8)) }

    @Test(arguments: [
        ("topic: a.b\nattempts: 0\n", ":2:11: attempts: expected 1 to 1000, found 0"),
        ("not_after: 6 hours\n", ":1:12: not_after: expected a time such as"),
        ("expiration: soon\n", ":1:13: expiration: expected seconds since 1970"),
        ("campaign_id: 7\n", ":1:14: campaign_id: expected a UUID, found \"7\""),
        ("loop: select\n", ":1:7: loop: expected automatic, io_uring or epoll"),
        ("on_unknown: forget\n", ":1:13: on_unknown: expected resend"),
        ("connect_patience: 0\n", ":1:19: connect_patience: expected 1 to 86400 seconds"),
        ("stop_at: { Unregistered: lots }\n", ":1:10: stop_at: expected never, or a share"),
        ("stop_at: { Unregisterd: 5% }\n", ":1:10: stop_at: expected one of APNs's reasons"),
        ("run_dir: x\nkey_fil: a.p8\n", ":2:1: unknown key \"key_fil\"; did you mean key_file?"),
        ("sleep: 5\n", ":1:1: unknown key \"sleep\"; docs/reference/settings.md lists the keys"),
        ("topic: a.b\nlanes: 1\ntopic: c.d\n", ":3:1: topic: is given twice, first in line 1"),
        ("attempts: \"3\"\n", ":1:11: attempts: expected a whole number, found the text \"3\""),
        ("attempts: 0x10\n", ":1:11: attempts: expected a whole number, found"),
        ("min_rows: 1:30\n", ":1:11: min_rows: expected a whole number, found"),
        ("attempts: 1_000\n", ":1:11: attempts: expected a whole number, found"),
        ("attempts: 01001\n", ":1:11: attempts: expected 1 to 1000, found 1001"),
        ("lanes: [1]\n", ":1:8: lanes: expected a single value, found a list"),
        ("strings: App\n", ":1:10: strings: expected a list, found \"App\""),
        ("stop_at: 5%\n", ":1:10: stop_at: expected keys and values, found \"5%\""),
        ("encryption: { keys: [a], chipher: x }\n", ":1:26: encryption: unknown key \"chipher\"; did you mean cipher?"),
        ("- a\n- b\n", ":1:1: expected keys and values, found a list"),
        ("run_dir: \"{dat}\"", ":1:10: run_dir: unknown placeholder {dat}"),
        ("run_dir: \"{date}\"\ntimezone: Europe/Berlim", ":2:11: timezone: expected a time zone"),
        ("run_dir: x\ntimezone: EST", ":2:11: timezone: expected a time zone"),
        ("run_dir: \"{date}\"\nnight_starts: 25:00", ":2:15: night_starts: expected a time of day"),
        ("run_dir: x\nname: Late News", ":2:7: name: expected 1 to 40 characters of a-z, 0-9, _ and -"),
        ("on_complete: []", ":1:14: on_complete: expected a program"),
        ("on_complete_patience: 0", ":1:23: on_complete_patience: expected 1 to 86400"),
        ("ping_timeout: 86401", ":1:15: ping_timeout: expected 1 to 86400"),
    ])
    func `errors of a campaign file have line, column and key`(yaml: String, message: String) throws {
        let found = try faults(yaml)
        #expect(found.count == 1 && found[0].hasPrefix(message), "\(found)")
    }

    @Test(arguments: [
        ("? [a, b]\n: 1\n", [":1:3: expected a name before the colon, found a list"]),
        ("stop_at: { [any]: 5% }\n", [":1:12: stop_at: expected a name before the colon, found a list"]),
        // A part that cannot be read is not said to be missing as well.
        ("encryption: x\n", [":1:13: encryption: expected keys and values, found \"x\""]),
        ("encryption: { keys: a }\n", [":1:21: encryption.keys: expected a list, found \"a\""]),
        ("webhooks: [[a]]\n", [":1:12: webhooks[0]: expected keys and values, found a list"]),
        ("on_complete: [\" \"]\n", [":1:14: on_complete: expected a program and its arguments, found none"]),
        (
            "topic: a.b\nto: prodution\n",
            [
                ":2:5: to: expected production, sandbox, simulator or HOST:PORT, found \"prodution\"; "
                    + "did you mean production?"
            ]
        ),
        (
            "topic: a.b\nrate: fast\n'topic': c.d\nlanes: two\ntopic: e.f\nstop_at:\n  any: 5%\n  any: 6%\n",
            [
                ":2:7: rate: expected a rate such as 2000/s, 120000/min or 3000000/h, found \"fast\"",
                ":3:1: topic: is given twice, first in line 1",
                ":4:8: lanes: expected a whole number, found \"two\"",
                ":5:1: topic: is given twice, first in line 1",
                ":8:3: any: is given twice, first in line 7",
            ]
        ),
        ("input: \"\"\n", [":1:8: input: expected a path, found an empty text"]),
        ("topic: a.b\nname: a\u{0}b\n", [":2:8: control characters are not allowed"]),
    ])
    func `what cannot be meant has its place and one line`(yaml: String, expected: [String]) throws {
        #expect(try faults(Data(yaml.utf8), .showing, [:]) == expected)
    }

    @Test(arguments: ["rate: fast", "bogus: 1"])
    func `faults that the library finds are told with the others`(other: String) throws {
        let lines = try faults(
            "\(other)\npriority: 7\ncanary: -1\nstop_at: { Unregisterd: 5% }\nstop_window: 10\n")
        let starts = lines.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(
            starts == [
                other == "bogus: 1" ? ":1:1: unknown" : ":1:7: rate:", ":2:11: priority:", ":3:9: canary:",
                ":4:10: stop_at:",
            ], "\(lines)")
    }

    @Test func `a file that is not UTF-8 is named for it`() throws {
        let other = Data("topic: a.b\nname: ".utf8) + [0xE9, 0x0A]
        #expect(try faults(other) == [":2:7: expected UTF-8, found another byte"])
        let wide = [": expected UTF-8, found UTF-16; convert it with iconv -f UTF-16 -t UTF-8"]
        for mark in [[0xFF, 0xFE], [0xFE, 0xFF]] as [[UInt8]] { #expect(try faults(Data(mark)) == wide) }
    }

    @Test func `of very many faults the first are told, and how many more there are`() throws {
        let lines = try faults((1...5_000).map { "no_key_\($0): 1\n" }.joined())
        #expect(lines.count == 51 && lines[49].hasPrefix(":50:1: unknown key \"no_key_50\""), "\(lines.prefix(3))")
        #expect(lines.last == ":51:1: and 4950 more faults from here on")
    }

    @Test(arguments: [
        (
            "providers:\n  - { topics: [com.a], keyfile: a.p8 }\n",
            ":2:24: providers[0]: unknown key \"keyfile\"; did you mean key_file?"
        ),
        ("topic: com.a\nproviders: one\n", ":2:12: providers: expected a list"),
        ("providers:\n  - com.a\n", ":2:5: providers[0]: expected keys and values"),
        ("providers: []\n", ": providers: expected 1 to 100, found 0"),
        (
            "providers:\n  - { topics: [com.a], key_file: a.p8 }\nkey_id: ABC\n",
            ":3:1: key_id: cannot be given together with providers"
        ),
        ("providers:\n  - { topics: com.a }\n", ":2:15: providers[0].topics: expected a list, found \"com.a\""),
        (
            "providers:\n  - { topics: [com.a] }\n  - { topics: [com.b], key_file: a.p8 }\n",
            "providers[0]: no credentials: give key_file with key_id and team_id, provider_token_file or certificate_file"
        ),
        ("providers:\n  - { topics: [com.a], certificate_file: none.pem }\n", "none.pem"),
    ])
    func `a list of providers that is wrong`(yaml: String, says: String) throws {
        let file = try place.write(yaml, to: "c.yaml")
        let input = try place.write("token,topic,payload\n", to: "topics.csv")
        let judged = Judged(.sending, file: file, ["input": .text(input), "to": .text("localhost:1")])
        #expect(judged.code == 64 && judged.text.contains(says), "\(judged)")
    }

    @Test(arguments: [
        (", events: [complete]", "webhooks[0].events[0]: expected started, completed, failed"),
        (", events: []", "entry 1: events: expected at least one"),
        (", timeout: 31", "entry 1: timeout: expected 1 to 30, found 31"),
        (", retries: 3", "unknown key \"retries\""),
    ])
    func `settings of webhooks that are wrong`(more: String, says: String) throws {
        try place.write("https://localhost/", to: "url")
        let found = try faults("webhooks: [{ url_file: url, secret_file: secrets\(more) }]\n")
        #expect(found.count == 1 && found[0].contains(says), "\(found)")
    }

    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test(arguments: [
        ("http://example.com/5ec2e7f0-webhook", secret, "url"), ("https://", secret, "url"),
        ("https:///5ec2e7f0-webhook", secret, "url"), ("https://:443/5ec2e7f0-webhook", secret, "url"),
        ("https://localhost:0/5ec2e7f0-webhook", secret, "url"),
        ("https://localhost:99999/5ec2e7f0-webhook", secret, "url"),
        ("https://%00/5ec2e7f0-webhook", secret, "url"), ("https://a..b/5ec2e7f0-webhook", secret, "url"),
        ("https://localhost/5ec2e7f0-webhook", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "secret"),
        ("https://localhost/5ec2e7f0-webhook", "whsec_MfKQ9r8GKYqrTwjU", "secret"),
    ])
    func `files of webhooks that cannot be used are refused without being printed`(
        url: String, secret: String, file: String
    ) throws {
        try place.write(url, to: "url")
        try place.write(secret, to: "secret")
        let found = try faults("webhooks: [{ url_file: url, secret_file: secret }]\n")
        #expect(found.count == 1, "\(found)")
        #expect(found[0].hasPrefix(":1:11: webhooks: \(file)_file: \(place.path(file)): "), "\(found)")
        #expect(!found[0].contains("MfKQ9r8GKYqrTwjU") && !found[0].contains("5ec2e7f0"), "\(found)")
    }
}
