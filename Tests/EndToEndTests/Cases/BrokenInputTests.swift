import Foundation
import Testing

extension EndToEndRuns {
    /// Inputs that cannot be meant: they are named, with what to do, and nothing of them is sent.
    @Suite struct BrokenInputs {
        private static let template = ["--template", Tools.fixture("campaign/plain.json")]

        private static func rows(_ count: Int, bad: (Int) -> Bool) -> String {
            "token,name\n"
                + (1...count).map { number in
                    bad(number) ? "no token,Ann\n" : String(repeating: "0", count: 56) + "\(10_000_000 + number),Ann\n"
                }.joined()
        }

        @Test func `a file whose first rows are mostly invalid is not begun`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.scratch.write(Self.rows(3000) { $0 % 100 != 0 }, to: "rows.csv")
            let directory = sender.newRunDirectory()
            let arguments = sender.arguments(input, to: simulator.port, runDirectory: directory, Self.template)
            let refused = try sender.command(arguments)
            #expect(refused.ending == .exited(64), "\(refused)")
            #expect(
                refused.errors.contains(
                    "\(input): 990 of the first 1,000 rows are invalid, more than 50 %: device-token 990 (\(input):2:1: token: "
                ),
                "\(refused)")
            #expect(!FileManager.default.fileExists(atPath: directory))
            let sent = try sender.command(arguments + ["--stop-at", "invalid=never"])
            #expect(sent.ending == .exited(2) && sent.output.contains(" accepted=30 "), "\(sent)")
            #expect(try simulator.stop().count == 30)
        }

        @Test(arguments: ["auto", "never"]) func `standard input is judged likewise`(spool: String) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.scratch.write(Self.rows(3000) { $0 % 100 != 0 }, to: "rows.csv")
            let directory = sender.newRunDirectory()
            let refused = try sender.command(
                sender.arguments("-", to: simulator.port, runDirectory: directory, Self.template + ["--spool", spool]),
                input: .file(URL(filePath: input)))
            #expect(refused.ending == .exited(64), "\(refused)")
            #expect(refused.errors.contains("<stdin>: 990 of the first 1,000 rows are invalid"), "\(refused)")
            #expect(try simulator.stop().isEmpty)
        }

        @Test func `a stream that was refused does not stand in the way of the next one`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let broken = try sender.scratch.write(Self.rows(3000) { $0 % 100 != 0 }, to: "broken.csv")
            let sound = try sender.scratch.write(Self.rows(30) { _ in false }, to: "sound.csv")
            let night = sender.scratch.path("runs/night")
            func run(_ command: String) throws -> Finished {
                let file = try sender.scratch.write(
                    "name: nightly\nto: localhost:\(simulator.port)\ninput_command: [sh, -c, \"\(command)\"]\nspool: never\n",
                    to: "nightly.yaml")
                return try sender.command(["run", file, "--run-dir", night] + Self.template + sender.credentials.flags)
            }
            let refused = try run("cat \(broken)")
            #expect(refused.ending == .exited(64) && refused.errors.contains("990 of the first"), "\(refused)")
            let failed = try run("head -n 900 \(broken); exit 1")
            #expect(failed.ending == .exited(75), "\(failed)")
            #expect(failed.errors.contains("the program ended with exit code 1"), "\(failed)")
            let sent = try run("cat \(sound)")
            #expect(sent.ending == .exited(0) && sent.output.contains(" accepted=30 "), "\(sent)")
            #expect(try simulator.stop().count == 30)
        }

        @Test func `the input of a run that ends by its latest rows is sent as far as it was whole`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.scratch.write(Self.rows(40_000) { $0 > 3000 }, to: "rows.csv")
            let (finished, results) = try sender.send(input, to: simulator.port, Self.template, expecting: 64)
            #expect(
                finished.errors.contains("rows are invalid (") && finished.errors.contains("more than 50 %"),
                "\(finished)")
            #expect(results.count("accepted") <= 3000 && results.lines.count < 40_000)
        }

        private static let urls: [(url: String, says: String)] = [
            ("HTTPS://me:word@example.com/rows.csv?sig=word#word", #"found the URL "https://example.com/rows.csv": "#)
        ]

        @Test(arguments: urls) func `a URL in place of a path is named, without its secrets`(url: String, says: String)
            throws
        {
            let sender = try Sender()
            let file = try sender.scratch.write("input: [\"\(url)\"]\n", to: "campaign.yaml")
            for arguments in [["send", "--input", url], ["check", file]] {
                let refused = try sender.command(arguments + ["--to", "simulator"] + Self.template)
                #expect(refused.ending == .exited(64), "\(refused)")
                #expect(refused.errors.contains(says) && !refused.errors.contains("word"), "\(refused)")
            }
        }

        @Test func `files put together with their headers and rows of empty fields are named`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let rows = Self.rows(3) { _ in false } + ",\n \u{20},\n\u{FEFF}" + Self.rows(3) { _ in false }
            let input = try sender.scratch.write(rows, to: "rows.csv")
            let (finished, results) = try sender.send(input, to: simulator.port, Self.template, expecting: 2)
            #expect(finished.errors.contains("invalid 2: empty-row (\(input):5:1, \(input):6:1)"), "\(finished)")
            #expect(finished.errors.contains("invalid 1: repeated-header (\(input):7:1)"), "\(finished)")
            #expect(results.count("accepted") == 6)
        }
    }
}
