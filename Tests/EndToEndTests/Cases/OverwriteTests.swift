import Foundation
import Testing

extension EndToEnd {
    /// Tests that no file of the user is ever overwritten.
    @Suite struct Overwriting {
        private static func simulate(_ directory: String, _ sender: Sender, _ more: [String] = []) throws -> Child {
            try Child(
                Tools.command, ["simulate", "--port", "0", "--directory", directory] + more, name: "simulate",
                in: sender.scratch)
        }

        private static func content(_ directory: String) throws -> [String: Data] {
            try FileManager.default.contentsOfDirectory(atPath: directory).reduce(into: [:]) {
                $0[$1] = try Data(contentsOf: URL(filePath: directory + "/" + $1))
            }
        }

        @Test(arguments: ["AuthKey.p8", "ca.pem", "simulator.pem"])
        func `simulate refuses a directory with files of somebody else`(name: String) throws {
            let sender = try Sender()
            let directory = sender.scratch.path("precious")
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            try FileManager.default.copyItem(atPath: sender.credentials.providerKey, toPath: directory + "/" + name)
            let before = try Self.content(directory)
            let finished = try sender.command(["simulate", "--port", "0", "--directory", directory])
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains("\(directory)/\(name) was not made by this simulator"), "\(finished)")
            #expect(try Self.content(directory) == before)
        }

        @Test func `simulators with one directory share its key and certificate, at once and later`() throws {
            let sender = try Sender()
            let directory = sender.scratch.path("shared")
            let processes = try (0..<2).map { _ in try Self.simulate(directory, sender) }
            defer { for process in processes { process.stop() } }
            let ports = try processes.map { try Peer.portPrinted(by: $0) }
            let files = try Self.content(directory)
            #expect(files.keys.sorted() == ["AuthKey.p8", "ca.pem", "simulator.pem"])
            let later = try Self.simulate(directory, sender)
            defer { later.stop() }
            let rows = try sender.makeRows(5)
            for port in ports + [try Peer.portPrinted(by: later)] {
                let finished = try sender.command([
                    "send", "--input", rows, "--template", Sender.template, "--to", "127.0.0.1:\(port)", "--run-dir",
                    sender.newRunDirectory(), "--ca-file", directory + "/ca.pem", "--key-file",
                    directory + "/AuthKey.p8", "--key-id", "SIMULATOR1", "--team-id", "SIMTEAM001", "--topic",
                    "com.example.app",
                ])
                #expect(finished.ending == .exited(0), "\(finished)")
            }
            #expect(try Self.content(directory) == files)
        }

        @Test func `simulate replaces none of its own files that somebody changed`() throws {
            let sender = try Sender()
            let directory = sender.scratch.path("changed")
            let process = try Self.simulate(directory, sender)
            _ = try Peer.portPrinted(by: process)
            process.stop()
            try FileManager.default.removeItem(atPath: directory + "/AuthKey.p8")
            try FileManager.default.copyItem(
                atPath: sender.credentials.providerKey, toPath: directory + "/AuthKey.p8")
            let before = try Self.content(directory)
            let finished = try sender.command(["simulate", "--port", "0", "--directory", directory])
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(try Self.content(directory) == before)
        }

        @Test func `counts and findings go over no other file, and a run into no directory with a summary`() throws {
            let sender = try Sender()
            let rows = try sender.makeRows(3)
            let before = try Data(contentsOf: URL(filePath: rows))
            let counted = try sender.command([
                "simulate", "--port", "0", "--directory", sender.scratch.path("sim"), "--counts", rows,
            ])
            #expect(counted.ending == .exited(64), "\(counted)")
            #expect(counted.errors.contains("\(rows) already exists and does not hold the counts"), "\(counted)")
            let checked = try sender.command([
                "check", "--input", rows, "--template", Sender.template, "--topic", "com.example.app", "--findings",
                rows,
            ])
            #expect(checked.ending == .exited(64), "\(checked)")
            #expect(try Data(contentsOf: URL(filePath: rows)) == before)

            let directory = sender.newRunDirectory()
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            try "mine".write(toFile: directory + "/summary.json", atomically: true, encoding: .utf8)
            let sent = try sender.command([
                "send", "--input", rows, "--template", Sender.template, "--to", "simulator", "--run-dir", directory,
            ])
            #expect(sent.ending == .exited(64), "\(sent)")
            #expect(try Self.content(directory) == ["summary.json": Data("mine".utf8)])
        }

        @Test func `an empty run directory is refused before anything is made`() throws {
            let sender = try Sender()
            let rows = try sender.makeRows(3)
            let finished = try sender.command([
                "send", "--input", rows, "--template", Sender.template, "--to", "simulator", "--run-dir", "",
            ])
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains("run"), "\(finished)")
        }
    }
}
