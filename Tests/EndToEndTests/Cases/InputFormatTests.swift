import Foundation
import Testing

extension EndToEnd {
    /// Rows as CSV, as lines of JSON, packed, and from a program.
    @Suite struct InputFormats {
        /// The arguments of `render` for each form of the same rows.
        private func forms(_ sender: Sender, _ kind: [String]) throws -> [(name: String, arguments: [String])] {
            let csv = sender.scratch.path("rows.csv")
            let ndjson = sender.scratch.path("rows.ndjson")
            for (path, more) in [(csv, kind), (ndjson, kind + ["--ndjson"])] {
                try prepare(Tools.script("make-rows"), ["500", "-o", path] + more, in: sender.scratch)
            }
            let query = try sender.scratch.write("input_command: [cat, \"\(ndjson)\"]\n", to: "program.yaml")
            return [
                ("CSV", ["--input", csv]), ("CSV, gzip", ["--input", try sender.pack(csv, "gzip")]),
                ("CSV, zstd", ["--input", try sender.pack(csv, "zstd")]), ("NDJSON", ["--input", ndjson]),
                ("NDJSON, gzip", ["--input", try sender.pack(ndjson, "gzip")]),
                ("NDJSON, zstd", ["--input", try sender.pack(ndjson, "zstd"), "--format", "ndjson"]),
                ("NDJSON of a program", [query]),
            ]
        }

        @Test(arguments: [["--headers"], ["--headers", "--raw"]])
        func `the same rows in every form give the same requests`(kind: [String]) throws {
            let sender = try Sender()
            let template = kind.contains("--raw") ? [] : ["--template", Sender.template]
            var first: String?
            for (name, arguments) in try forms(sender, kind) {
                let rendered = try sender.command(
                    ["render"] + arguments + ["--to", "localhost:1", "--rows", "0", "--json"] + sender.credentials.flags
                        + template)
                try #require(rendered.ending == .exited(0), "\(name): \(rendered.errors)")
                // Each notification has an id of its own.
                let output = rendered.output.replacing(/"apns-id":"[^"]*"/, with: "")
                #expect(rendered.outputLines.count == 500)
                #expect(output == first ?? output, "\(name)")
                first = first ?? output
            }
        }

        @Test func `values of other types need no quotes, and a payload may be an object`() throws {
            let sender = try Sender()
            let typed = try sender.scratch.write(
                """
                {"token": "00aa", "badge": 5, "vip": true, "extras": {"order": [1, 2.50]}, "first_name": "Ada"}
                {"token": "00bb", "badge": 0, "vip": false, "extras": null, "note": "x", "first_name": "Bo"}
                """, to: "typed.ndjson")
            let template = try sender.scratch.write(
                #"{"aps":{"alert":"{{first_name}}","badge":"{{badge:number}}"},"vip":"{{vip:bool}}","extras":"{{extras:json|0}}"}"#,
                to: "typed.json")
            let rendered = try sender.render(typed, ["--template", template])
            let payloads = rendered.compactMap { $0["payload"] as? String }
            #expect(
                payloads == [
                    #"{"aps":{"alert":"Ada","badge":5},"vip":true,"extras":{"order":[1,2.50]}}"#,
                    #"{"aps":{"alert":"Bo","badge":0},"vip":false,"extras":0}"#,
                ], "\(rendered)")
            let own = try sender.scratch.write(
                #"{ "payload" : { "aps" : { "alert" : "a" } }, "token" : "00aa" }"#, to: "own.jsonl")
            #expect(try sender.render(own, []).compactMap { $0["payload"] as? String } == [#"{"aps":{"alert":"a"}}"#])
        }

        @Test func `a bad line spoils itself, and is found by check`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let token = { (number: Int) in String(repeating: "0", count: 60) + "\(1000 + number)" }
            let input = try sender.scratch.write(
                """
                {"token":"\(token(1))","name":"Ada"}
                {"token":"\(token(2))","name":"Bo}
                {"token":"\(token(3))","name":7}

                {"token":"\(token(4))","token":"\(token(5))"}
                ["\(token(6))"]
                {"token":"\(token(7))"}
                """, to: "rows.ndjson")
            let template = try sender.scratch.write(#"{"aps":{"alert":"Hi {{name}}"}}"#, to: "name.json")
            let (finished, results) = try sender.send(
                input, to: simulator.port, ["--template", template], expecting: 2)
            #expect(finished.output.contains("rows=6 "), "\(finished)")
            let lines = results.lines.sorted { $0.row < $1.row }
            #expect(lines.map(\.outcome) == ["accepted", "invalid", "accepted", "invalid", "invalid", "accepted"])
            #expect(lines.map(\.token) == [token(1), token(2), token(3), token(4), "", token(7)])
            #expect(Set(try simulator.stop().keys) == [token(1), token(3), token(7)])
            let check = try sender.command(
                [
                    "check", "--input", input, "--template", template, "--to", "simulator", "--findings",
                    sender.scratch.path("findings.csv"),
                ] + sender.credentials.flags)
            #expect(check.ending == .exited(2), "\(check)")
            for finding in [
                "rows.ndjson:2:84: error: a string that is never closed",
                "rows.ndjson:5:77: error: a key that occurs twice",
                "rows.ndjson:6:1: error: expected a JSON object in braces",
            ] {
                #expect((check.output + check.errors).contains(finding), "\(check)")
            }
        }

        @Test func `the format can be given`() throws {
            let sender = try Sender()
            let input = try sender.scratch.write(
                "no object\n{\"token\":\"00aa\",\"payload\":{\"aps\":{\"alert\":1}}}\n", to: "a")
            let flags = ["--to", "localhost:1"] + sender.credentials.flags
            let asCSV = try sender.command(["render", "--input", input] + flags)
            #expect(asCSV.ending == .exited(64) && asCSV.errors.contains("no column \"token\""), "\(asCSV)")
            let asNDJSON = try sender.command(["render", "--input", input, "--format", "ndjson", "--json"] + flags)
            #expect(asNDJSON.outputLines.count == 2, "\(asNDJSON)")
            let wrong = try sender.command(["render", "--input", input, "--format", "json"] + flags)
            #expect(wrong.ending == .exited(64) && wrong.errors.contains("expected auto, csv or ndjson"), "\(wrong)")
        }
    }
}
