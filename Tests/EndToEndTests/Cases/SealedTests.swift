import Foundation
import Testing

extension EndToEnd {
    /// Tests of campaigns with encrypted payloads.
    @Suite struct Sealed {
        @Test func `every row comes out of its encryption as Python has it, in every cipher and padding`() throws {
            let scratch = try Scratch()
            let rows = Tools.sanitizer == nil ? "200" : "50"
            let run = try Child.run(
                Tools.script("prove/sealed-rows"),
                [rows, "--keys", "3", "--each", "--binary", Tools.command, "--no-build"],
                name: "sealed",
                in: scratch, seconds: 300)
            try #require(run.ending == .exited(0), "\(run)")
            #expect(run.outputLines.count { $0.contains(" decrypted=\(rows) accepted=\(rows) ") } == 6)
        }

        @Test func `the example is sent as it stands`() throws {
            let scratch = try Scratch()
            let campaign = Tools.root.appending(path: "examples/sealed/campaign.yaml").path
            let run = try Child.run(
                Tools.command, ["send", campaign, "--run-dir", scratch.path("run")], name: "send", in: scratch)
            #expect(run.ending == .exited(0), "\(run)")
            #expect(run.outputLines.last?.hasPrefix("rows=3 accepted=3 ") == true)
            let shown = try Child.run(Tools.command, ["render", campaign], name: "render", in: scratch)
            #expect(shown.ending == .exited(0))
            #expect(shown.output.contains(#""mutable-content":1},"encrypted":true,"content":""#))
            #expect(!shown.output.contains("Approval") && !shown.output.contains("00D000000000001EAA"))
        }

        /// Renders a campaign of one row with the given key, and returns the output.
        private func render(
            key: String, body: String = "x", template: String = #"{"aps":{"alert":"a"},"body":"{{body}}"}"#,
            columns: String = "token,body,public_key", encryption: String = "keys: [body]"
        ) throws -> Finished {
            let scratch = try Scratch()
            try scratch.write("\(columns)\nabcd,\(body),\"\(key)\"\n", to: "rows.csv")
            try scratch.write(template, to: "payload.json")
            let campaign = try scratch.write(
                "to: simulator\ninput: rows.csv\ntemplate: payload.json\nencryption:\n  \(encryption)\n",
                to: "campaign.yaml")
            let run = try Child.run(Tools.command, ["render", campaign], name: "render", in: scratch)
            let folder = scratch.directory.path + "/"
            return Finished(
                ending: run.ending, output: run.output.replacing(folder, with: ""),
                errors: run.errors.replacing(folder, with: ""))
        }

        @Test(arguments: [
            ("", "nothing"), ("AAAA", "bytes that are no DER"), ("five", "bytes that are no DER"),
            ("fivé", "text that is neither PEM nor base64"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", #"a PEM block "CERTIFICATE""#),
        ])
        func `a recipient's key that is none makes the row invalid, and is not shown`(key: String, found: String) throws
        {
            let run = try render(key: key)
            let expected = "expected an RSA public key of 2048 bits or more (PEM or base64 DER), found \(found)"
            #expect(run.output == "# row 1: invalid: rows.csv:2:9: public_key: \(expected)\n\n", "\(run)")
            #expect(run.ending == .exited(2))
        }

        @Test func `a payload is too large by its size as it would be sent`() throws {
            let key =
                try String(
                    contentsOf: Tools.root.appending(path: "examples/sealed/rows.csv"), encoding: .utf8
                ).split(separator: "\n")[1].split(separator: ",").last.map(String.init) ?? ""
            // The payload is {"aps":{"alert":"a","mutable-content":1},"encrypted":true,"content":"…","secret":"…"}. The
            // content is {"body":"…"} with a tag of 16 bytes, in base64, and the secret has 344 bytes.
            func size(_ body: Int) -> Int { 83 + (11 + body + 16 + 2) / 3 * 4 + 344 }
            for body in [2724, 2725, 2726, 2727, 3000, 5000, 20_000] {
                let run = try render(key: key, body: String(repeating: "x", count: body))
                if size(body) <= 4096 {
                    #expect(run.ending == .exited(0), "\(run)")
                    #expect(run.output.split(separator: "\n").last?.utf8.count == size(body))
                } else {
                    let expected = "rows.csv:2:1: payload: expected at most 4096 bytes, found \(size(body))"
                    #expect(run.output == "# row 1: invalid: \(expected)\n\n", "\(run)")
                }
            }
        }

        @Test(arguments: [
            (
                "keys: [body]\n  cypher: x",
                "campaign.yaml:6:3: encryption: unknown key \"cypher\"; did you mean cipher?"
            ),
            (
                "keys: [body]\n  key_column: rsa",
                "rows.csv:1: no column \"rsa\" with the recipient's key, which encryption needs; there are \"token\", "
                    + "\"body\", \"public_key\""
            ),
        ])
        func `what is wrong with the encryption of a campaign shows before anything is sent`(
            encryption: String, message: String
        ) throws {
            let run = try render(key: "", encryption: encryption)
            #expect(run.ending == .exited(64) && run.errors == "apns-batch: \(message)\n", "\(run)")
        }

        @Test func `rows with a payload of their own cannot be encrypted`() throws {
            let scratch = try Scratch()
            try scratch.write("token,payload\nabcd,{}\n", to: "rows.csv")
            let campaign = try scratch.write(
                "to: simulator\ninput: rows.csv\nencryption: { keys: [a] }\n", to: "campaign.yaml")
            let run = try Child.run(Tools.command, ["render", campaign], name: "render", in: scratch)
            #expect(
                run.errors
                    == "apns-batch: encryption needs a template; rows that bring their own payload have none\n")
            #expect(run.ending == .exited(64))
        }
    }
}
