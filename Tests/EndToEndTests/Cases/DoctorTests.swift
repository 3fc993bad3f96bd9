import APNSBatchTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Tests of `doctor`, as a person at a terminal uses it.
    @Suite struct DoctorCommand {
        @Test func `the doctor's exit code is that of its worst finding`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let here = "localhost:\(simulator.port)"
            func doctor(_ arguments: String...) throws -> Finished {
                try sender.command(["doctor"] + arguments + sender.credentials.flags)
            }
            chmod(sender.credentials.providerKey, 0o600)
            let well = try doctor("--production", here, "--sandbox", here)
            #expect(well.ending == .exited(0), "\(well)")
            #expect(well.output.contains("\nok       clock: agrees with that of \(here)\n"), "\(well)")
            chmod(sender.credentials.providerKey, 0o644)
            let open = try doctor("--to", here)
            #expect(open.ending == .exited(2))
            #expect(
                open.output.hasPrefix(
                    """
                    warning  key file: \(sender.credentials.providerKey) is accessible to everybody (mode 644)
                             chmod 600 \(sender.credentials.providerKey)

                    """), "\(open)")
            let json = try doctor("--to", here, "--json")
            let first = try #require(json.outputLines.first)
            let object = try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: String]
            #expect(object?["level"] == "warning" && object?["what"] == "key file")
            let closed = ReservedPort()
            #expect(try doctor("--to", "localhost:\(closed.number)").ending == .exited(69))
            #expect(try doctor("--to", here, "--token", "xyz").ending == .exited(69))
            #expect(try sender.command(["doctor", "--token", "00"]).ending == .exited(64))
        }
    }
}
