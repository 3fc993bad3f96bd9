import Foundation
import Testing

extension EndToEnd {
    /// Tests of copies of campaigns, from which other machines send parts of the rows.
    @Suite struct CopyCampaign {
        private let sender: Sender

        init() throws { sender = try Sender() }

        private func copy(_ campaign: String, _ more: [String] = []) throws -> Finished {
            try sender.command(["copy-campaign", campaign, sender.scratch.path("shared/campaign")] + more)
        }

        private func object(_ text: String) throws -> NSDictionary {
            try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
        }

        /// Every kind of setting that names a file, and settings of every group.
        private func writeCampaign() throws -> String {
            let strings = sender.scratch.file("app/en.lproj")
            try FileManager.default.createDirectory(at: strings, withIntermediateDirectories: true)
            try sender.scratch.write("\"HELLO\" = \"Hello\";", to: "app/en.lproj/Localizable.strings")
            try sender.scratch.write(#"{"aps":{"alert":{"loc-key":"HELLO"}}}"#, to: "a.json")
            try sender.scratch.write(#"{"aps":{"alert":"B {{name}}"}}"#, to: "b.json")
            return try sender.scratch.write(
                """
                variants: { x: a.json, y: b.json }
                fallback: x
                strings: [app]
                input: rows.csv
                min_rows: 5
                topic: com.example.app
                priority: 5
                campaign_id: 0c5ae5a4-9d9b-4a3f-9a53-5b2b9a3f6f10
                to: localhost:2197
                ca_file: \(sender.credentials.authority)
                key_file: \(sender.credentials.providerKey)
                key_id: \(TestCredentials.keyID)
                team_id: \(TestCredentials.teamID)
                run_dir: runs/{date}
                on_unknown: report
                result_columns: [name]
                rate: 120000/min
                canary: 100
                stop_at: { BadDeviceToken: 20% }
                lanes: 2
                connections: 8
                not_after: 2030-01-01T08:00:00+01:00
                spread: 90s
                night_starts: "00:00"
                timezone: UTC
                """, to: "welcome.yaml")
        }

        @Test func `a copy can be read, with keys in keys and columns of a default collapse id`() throws {
            try sender.scratch.write(#"{"aps":{"alert":"x","mutable-content":1},"body":"{{body}}"}"#, to: "sealed.json")
            let campaign = try sender.scratch.write(
                """
                template: sealed.json
                topic: com.example.app
                to: localhost:2197
                key_file: \(sender.credentials.providerKey)
                key_id: \(TestCredentials.keyID)
                team_id: \(TestCredentials.teamID)
                encryption: { keys: [body], key_column: rsa }
                collapse_id: "m-{{match}}"
                """, to: "sealed.yaml")
            let finished = try copy(campaign)
            try #require(finished.ending == .exited(0), "\(finished)")
            let needs = try #require(try object(finished.output)["needs"] as? [[String: Any]])
            for column in ["body", "rsa", "match"] {
                #expect(needs.contains { $0["column"] as? String == column }, "\(column): \(finished)")
            }
            let copied = sender.scratch.path("shared/campaign/campaign.yaml")
            let again = try sender.command(["copy-campaign", copied, sender.scratch.path("shared/again")])
            #expect(again.ending == .exited(0), "\(again)")
        }

        @Test func `a copy has the files and what is sent, and nothing of one machine`() throws {
            let finished = try copy(try writeCampaign())
            try #require(finished.ending == .exited(0) && finished.errors.isEmpty, "\(finished)")
            let directory = sender.scratch.path("shared/campaign")
            let said = NSMutableDictionary()
            said.setDictionary(try #require(try object(finished.output) as? [String: Any]))
            let night = try #require(said["night"] as? String)
            #expect(night.wholeMatch(of: #/20\d\d-\d\d-\d\d/#) != nil)
            let needs = try #require(said["needs"] as? [[String: Any]])
            #expect(
                needs.contains {
                    $0["column"] as? String == "name" && $0["uses"] as? [String] == ["template", "results"]
                })
            #expect(needs.contains { $0["column"] as? String == "variant" && $0["uses"] as? [String] == ["selects"] })
            said.removeObjects(forKeys: ["needs", "warnings"])
            #expect(
                said == [
                    "campaign": "\(directory)/campaign.yaml", "name": "welcome",
                    "campaign_id": "0c5ae5a4-9d9b-4a3f-9a53-5b2b9a3f6f10", "credentials": "signing_key",
                    "rate": 2000, "lanes": 2, "connections": 8, "min_rows": 5, "canary": 100, "canary_max_rejected": 5,
                    "not_after": "2030-01-01T07:00:00Z", "spread_seconds": 90, "night": night,
                    "run_dir": sender.scratch.path("runs/\(night)"),
                    "left_out": [
                        "input", "min_rows", "campaign_id", "key_file", "key_id", "team_id", "run_dir", "night_starts",
                        "timezone", "not_after", "rate", "spread", "canary", "lanes", "connections",
                    ],
                ])
            #expect(
                try object(try sender.scratch.read("shared/campaign/campaign.yaml")) == [
                    "variants": ["x": "variants-0-a.json", "y": "variants-1-b.json"], "fallback": "x",
                    "strings": ["strings-0-app"], "topic": "com.example.app", "priority": 5, "to": "localhost:2197",
                    "ca_file": "ca_file-ca.pem", "on_unknown": "report", "result_columns": ["name"],
                    "stop_at": ["BadDeviceToken": "20%"],
                ])
            #expect(
                try sender.scratch.read("shared/campaign/variants-1-b.json") == #"{"aps":{"alert":"B {{name}}"}}"#)
            #expect(
                try FileManager.default.subpathsOfDirectory(atPath: directory).sorted() == [
                    "ca_file-ca.pem", "campaign.yaml", "strings-0-app", "strings-0-app/en.lproj",
                    "strings-0-app/en.lproj/Localizable.strings", "variants-0-a.json", "variants-1-b.json",
                ])
        }

        @Test func `a copy is sent with rows, a directory and a token`() throws {
            let simulator = try SimulatorProcess(sender)
            let campaign = try sender.scratch.write(
                "{ to: 'localhost:\(simulator.port)', template: \(Sender.template), priority: 10 }", to: "short.yaml")
            try #require(try copy(campaign, sender.credentials.flags).ending == .exited(0))
            let token = sender.scratch.path("token")
            let key = ["--key-file", sender.credentials.providerKey, "--key-id", TestCredentials.keyID]
            try #require(
                try sender.command(
                    ["provider-token", "--team-id", TestCredentials.teamID, "--output", token] + key
                ).ending == .exited(0))
            let sent = try sender.command([
                "run", sender.scratch.path("shared/campaign/campaign.yaml"), "--input", try sender.makeRows(100),
                "--run-dir", sender.newRunDirectory(), "--provider-token-file", token,
            ])
            #expect(sent.ending == .exited(0), "\(sent)")
            #expect(try simulator.stop().values.allSatisfy { $0.received == 1 })
        }

        @Test(
            arguments: [
                ("template: nothing.json", "nothing.json: No such file or directory"),
                ("rate: fast", "other.yaml:2:7: rate: expected a rate such as 2000/s"),
                ("providers: [{ topics: [a], key_file: k.p8 }]", "providers: a run in parts cannot keep it"),
            ])
        func `a campaign that is wrong is not copied`(line: String, message: String) throws {
            let campaign = try sender.scratch.write("to: localhost:1\n\(line)\n", to: "other.yaml")
            let finished = try copy(campaign)
            #expect(finished.ending == .exited(64) && finished.errors.contains(message), "\(finished)")
            #expect(!FileManager.default.fileExists(atPath: sender.scratch.path("shared")))
        }

        @Test(arguments: [
            ("expect: [accepted > 0]", "expect"), ("metrics_listen: \"9100\"", "metrics_listen"),
        ])
        func `a setting that nobody could keep for all parts is refused, unless it is left out`(
            line: String, key: String
        ) throws {
            let text = "to: localhost:1\ntemplate: \(Sender.template)\n\(line)\n"
            let campaign = try sender.scratch.write(text, to: "other.yaml")
            let finished = try copy(campaign)
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains("other.yaml:3:"), "\(finished)")
            #expect(
                finished.errors.contains("\(key): a run in parts cannot keep it; leave it out with --without \(key)"))
            let copied = try copy(campaign, ["--without", key])
            #expect(copied.ending == .exited(0), "\(copied)")
        }

        @Test func `an unknown setting to leave out is refused with the nearest one`() throws {
            let finished = try copy(try writeCampaign(), ["--without", "canry"])
            #expect(finished.ending == .exited(64) && finished.errors.contains("did you mean canary?"), "\(finished)")
        }

        @Test(
            arguments: [
                (
                    #"{"aps":{"alert":"{{frist_name}}"}}"#, "",
                    #"unknown column "frist_name"; did you mean "first_name"?"#
                )
            ])
        func `columns and templates are compared before a row is frozen`(
            template: String, line: String, message: String
        ) throws {
            try sender.scratch.write(template, to: "template.json")
            let text = "to: localhost:1\ntemplate: template.json\ntopic: com.example.app\n\(line)\n"
            let campaign = try sender.scratch.write(text, to: "other.yaml")
            let finished = try copy(campaign, ["--columns=token", "--columns=first_name"])
            #expect(finished.ending == .exited(64) && finished.errors.contains(message), "\(finished)")
        }

        @Test func `a column that nothing uses is a warning, and the path of a column is looked for in its first key`()
            throws
        {
            let text = """
                to: localhost:1
                template: name.json
                topic: com.example.app
                columns: { name: Person.Names.0 }
                """
            try sender.scratch.write(#"{"aps":{"alert":"Hi {{name}}"}}"#, to: "name.json")
            let campaign = try sender.scratch.write(text, to: "other.yaml")
            let columns = ["token", "Person", "priorty", "a,b"].map { "--columns=\($0)" }
            let finished = try copy(campaign, columns)
            try #require(finished.ending == .exited(0), "\(finished)")
            let warnings = try #require(try object(finished.output)["warnings"] as? [String])
            #expect(
                warnings.contains { $0.contains("priorty") && $0.contains(#"did you mean "priority"?"#) }, "\(warnings)"
            )
            #expect(
                warnings.contains { $0.contains("a,b") } && !warnings.contains { $0.contains("Person") }, "\(warnings)")
        }

        @Test(arguments: [
            ("not_after", "expected a time in the future, found 2020-01-01T00:00:00Z"),
            ("expiration", "expected a time in the future, found 1577836800"),
        ])
        func `a campaign whose end has passed is copied for parts of a run that has begun, and says so`(
            key: String, message: String
        ) throws {
            let text = "to: localhost:1\ntemplate: \(Sender.template)\ntopic: a.b\n"
            let campaign = try sender.scratch.write(text + "\(key): 2020-01-01T00:00:00Z\n", to: "late.yaml")
            let finished = try copy(campaign)
            try #require(finished.ending == .exited(0), "\(finished)")
            let late = try #require(try object(finished.output)["late"] as? String)
            #expect(late.contains("late.yaml:4:") && late.contains("\(key): \(message)"), "\(late)")
            let early = try sender.command([
                "copy-campaign", try sender.scratch.write(text, to: "early.yaml"), sender.scratch.path("early"),
            ])
            #expect(try object(early.output)["late"] == nil, "\(early)")
        }

        @Test func `a directory with files is left alone`() throws {
            try FileManager.default.createDirectory(
                atPath: sender.scratch.path("shared/campaign"), withIntermediateDirectories: true)
            try sender.scratch.write("x", to: "shared/campaign/thesis.txt")
            let finished = try copy(try writeCampaign())
            #expect(
                finished.ending == .exited(64) && finished.errors.contains("the directory is not empty"), "\(finished)")
        }
    }
}
