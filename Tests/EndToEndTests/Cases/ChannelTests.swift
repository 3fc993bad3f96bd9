import Foundation
import Testing

extension EndToEnd {
    /// Tests of the commands for channels and broadcasts, as a person at a terminal uses them.
    @Suite struct Channels {
        @Test func `a channel is created, broadcast to, listed and deleted`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            func channels(_ arguments: String...) throws -> Finished {
                try sender.command(
                    ["channels"] + arguments
                        + ["--bundle-id", TestCredentials.topic, "--to", "localhost:\(simulator.port)"]
                        + sender.credentials.flags.dropFirst(2))
            }
            let made = try channels("create", "--storage", "most-recent")
            let id = try #require(made.outputLines.first.map(String.init), "\(made)")
            #expect(made.ending == .exited(0))
            let json = try channels("read", "--channel", id, "--json")
            #expect(json.output == #"{"channel_id":"\#(id)","storage":"most-recent"}"# + "\n", "\(json)")
            let input = try sender.scratch.write("channel_id,score\n\(id),2:1\nno,1:1\n", to: "channels.csv")
            let template = try sender.scratch.write(
                #"{"aps":{"timestamp":1,"event":"update","content-state":{"score":"{{score}}"}}}"#, to: "score.json")
            let runDirectory = sender.newRunDirectory()
            let sent = try sender.command(
                [
                    "broadcast", "--input", input, "--template", template, "--expiration", "1h", "--to",
                    "localhost:\(simulator.port)", "--run-dir", runDirectory,
                ] + sender.credentials.flags)
            #expect(sent.ending == .exited(2), "\(sent)")
            let results = try String(contentsOfFile: runDirectory + "/results.csv", encoding: .utf8)
            #expect(results.contains("\n1,\(id),accepted,200,"), "\(results)")
            #expect(
                results.contains(#"2,no,invalid,,"\#(input):3:1: channel_id: expected base64, found ""no""","#),
                "\(results)"
            )
            #expect(try channels("list").output == "\(id)\n")
            #expect(try channels("delete", "--channel", id).output == "\(id): deleted\n")
            let gone = try channels("read", "--channel", id)
            #expect(gone.ending == .exited(69))
            #expect(
                gone.errors.hasSuffix(
                    """
                    answered 400 ChannelNotRegistered: the channel does not exist
                    apns-batch: list the app's channels; the channel may belong to the other environment, or was deleted

                    """), "\(gone)")
            #expect(try channels("read", "--channel", "no").ending == .exited(64))
        }

        @Test func `broadcasts are rehearsed against the simulator inside, which knows every channel`() throws {
            let sender = try Sender()
            let input = try sender.scratch.write(
                "channel_id,payload\nAAAA,\"{\"\"aps\"\":{\"\"timestamp\"\":1,\"\"event\"\":\"\"end\"\"}}\"\n",
                to: "channels.csv")
            func broadcast(_ more: String...) throws -> Finished {
                try sender.command(
                    ["broadcast", "--input", input, "--to", "simulator", "--run-dir", sender.newRunDirectory()] + more)
            }
            let sent = try broadcast("--expiration", "1h")
            #expect(sent.ending == .exited(0) && sent.output.contains("accepted=1"), "\(sent)")
            let checked = try sender.command(
                [
                    "check", "--broadcast", "--input", input, "--to", "simulator", "--expiration", "0", "--findings",
                    sender.scratch.path("findings.csv"),
                ])
            #expect(checked.ending == .exited(0) && checked.output.contains("rows=1 good=1"), "\(checked)")
            let rendered = try sender.command(
                ["render", "--broadcast", "--input", input, "--to", "simulator", "--expiration", "0"])
            #expect(rendered.output.contains("\n:path: /4/broadcasts/apps/com.example.app\n"), "\(rendered)")
            let typed = try broadcast("--expiration", "1h", "--push-type", "alert")
            #expect(typed.ending == .exited(64))
            #expect(
                typed.errors
                    == "apns-batch: --push-type: expected liveactivity for a broadcast, found \"alert\"\n")
            let collapsed = try broadcast("--expiration", "1h", "--collapse-id", "x")
            #expect(collapsed.errors == "apns-batch: --collapse-id: a broadcast cannot have one\n")
        }
    }
}
