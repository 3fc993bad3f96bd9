import Foundation
import Testing

extension EndToEnd {
    /// Tests of what shells complete.
    @Suite struct Completion {
        /// Returns what bash offers for the last of some words, in a directory with files of all kinds.
        private static func offered(_ words: [String]) throws -> [String] {
            let scratch = try Scratch()
            for file in ["nightly.yaml", "notes.txt", "AuthKey.p8", "rows.csv"] { try scratch.write("", to: file) }
            try FileManager.default.createDirectory(
                atPath: scratch.path("runs/tonight"), withIntermediateDirectories: true)
            let script = """
                cd "$1" && shift && compopt() { :; } && source <("$1" --generate-completion-script bash) && shift
                COMP_WORDS=(apns-batch "$@") COMP_CWORD=$# COMP_LINE="apns-batch $*"
                COMP_POINT=${#COMP_LINE}
                _apns-batch apns-batch "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let finished = try Child.run(
                "/bin/bash", ["-c", script, "complete", scratch.directory.path, Tools.command] + words,
                name: "complete",
                in: scratch, seconds: 60)
            return finished.output.split(separator: "\n").map(String.init).sorted()
        }

        @Test(arguments: [
            (["run", "n"], ["nightly.yaml"]), (["status", "ru"], ["runs"]),
            (["report", "runs", "runs/t"], ["runs/tonight"]),
            (["send", "--key-file", "A"], ["AuthKey.p8"]), (["send", "--input", "ro"], ["rows.csv"]),
            (["send", "--run-dir", "ru"], ["runs"]), (["send", "--to", ""], ["production", "sandbox", "simulator"]),
            (["send", "--on-unknown", "re"], ["report", "resend", "resend-if-collapsible"]),
            (["send", "--push-type", "vo"], ["voip"]), (["simulate", "--script", "n"], ["nightly.yaml"]),
            (["control", "runs", "p"], ["pause"]), (["channels", "create", "--storage", ""], ["most-recent", "none"]),
            (["stat"], ["status"]),
        ])
        func `files, campaigns, run directories and fixed words are offered`(words: [String], expected: [String]) throws
        {
            #expect(try Self.offered(words) == expected)
        }

        /// The enumeration: each argument whose help begins with what it is.
        @Test func `every argument that names a file or a directory is completed as one`() throws {
            var (found, without) = (0, [String]())
            for command in try ToolDump.read().command.leaves {
                for argument in command.arguments ?? [] {
                    let names =
                        #/^(?:Run directory|Directory|Campaign file|File|CSV file|Script|Server certificate|Private key|Public key|Signing key|CA )/#
                    guard argument.kind != "flag", argument.abstract?.contains(names) == true else { continue }
                    found += 1
                    let kind = argument.completionKind ?? [:]
                    if kind["file"] == nil, kind["directory"] == nil {
                        without.append("\(command.words) \(argument.name)")
                    }
                }
            }
            #expect(found > 60 && without == [])
        }

        /// The enumeration: each flag that names a file or has fixed words.
        @Test func `every path of the table of settings is completed as a file or a directory`() throws {
            let sender = try Sender()
            let table = try sender.command(["reference", "--settings"]).output
            let paths = table.matches(of: #/\n\| `(\w+)` \| (?:path|path, or list of paths|list of paths) \|/#).map {
                "--" + $0.output.1.replacing("_", with: "-")
            }
            let dump = try Child.run(
                Tools.command, ["--experimental-dump-help"], name: "dump", in: sender.scratch, seconds: 60
            ).output
            let all = try #require(try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: Any])
            let commands = try #require((all["command"] as? [String: Any])?["subcommands"] as? [[String: Any]])
            let send = try #require(commands.first { $0["commandName"] as? String == "send" })
            var without: [String] = []
            for argument in send["arguments"] as? [[String: Any]] ?? [] {
                guard let name = (argument["preferredName"] as? [String: Any])?["name"] as? String else { continue }
                let kind = argument["completionKind"] as? [String: Any]
                if paths.contains("--\(name)"), kind?["file"] == nil, kind?["directory"] == nil { without.append(name) }
            }
            #expect(paths.count > 12 && without == [])
        }
    }
}
