import APNSBatch
import APNSBatchReport
import ArgumentParser
import Foundation

/// A run in parts, continued by hand.
extension Resume {
    /// Resumes each part that was begun and is not complete. Returns the exit code of all.
    func resume(_ run: DistributedRun) async throws -> ExitCode {
        let parts = run.parts
        var codes: [ExitCode] = []
        // A run whose rows are sent again is not complete, whatever ends this process.
        if retryUnavailable { try? FileManager.default.removeItem(atPath: "\(run.directory)/_COMPLETE") }
        for part in parts where part.isBegun {
            let code = try await resume(part)
            codes.append(code)
            // What ends one part would end the next one, and a person who stops one means all of them.
            guard code == .success || code == ExitStatus.someRowsLeft else { break }
        }
        let waiting = parts.count { !$0.isBegun }
        if waiting > 0 {
            complain("\(waiting) of \(parts.count) parts were not begun: call the program again that divided the rows")
            codes.append(ExitStatus.interrupted)
        }
        return ExitStatus.worst(codes)
    }

    private func resume(_ part: DistributedRun.Part) async throws -> ExitCode {
        if !retryUnavailable, let status = try? RunStatus(of: part.directory), status.isDone { return .success }
        complain("part \(part.number):")
        do {
            try await resume(part.directory)
            return .success
        } catch let code as ExitCode {
            return code
        }
    }

    /// Throws if the credentials of a part are gone with the program that sent it.
    static func requireCredentials(of before: RunArguments, in directory: String, _ flags: CampaignSettings) throws {
        guard let token = before.settings.providerTokenFile, flags.keyFile == nil, flags.providerTokenFile == nil,
            CampaignCall.isOfPart(directory), access(token, F_OK) != 0
        else { return }
        throw UsageError(
            "\(directory): this is a part of a run, whose provider token exists only while its program sends it; "
                + "give --key-file, --key-id and --team-id, or --provider-token-file")
    }
}
