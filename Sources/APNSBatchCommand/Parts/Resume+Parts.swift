import APNSBatch
import APNSBatchBasics
import APNSBatchReport
import ArgumentParser
import Foundation

/// A run in parts, continued by hand.
extension Resume {
    /// Resumes each part that was begun and is not complete, and shows how all of them stand. Returns the exit code of all.
    func resume(_ run: DistributedRun) async throws -> ExitCode {
        let mark = CompletionMark(of: run)
        // A run whose rows are sent again is not complete, whatever ends this process.
        if retryUnavailable { mark.remove() }
        var codes = try await resumeParts(of: run)
        let status = PartsStatus(of: run)
        if status.isDone, retryUnavailable { mark.restore() }
        Output.lines(output.json ? [try JSONLine.text(status)] : status.lines(most: 20))
        let waiting = run.parts.count { !$0.isBegun }
        if waiting > 0 {
            complain(
                "\(waiting) of \(run.parts.count) parts were not begun: call the program again that divided the rows")
            codes.append(ExitStatus.interrupted)
        }
        if !Output.isComplete() { codes.append(ExitStatus.interrupted) }
        return ExitStatus.worst(codes)
    }

    private func resumeParts(of run: DistributedRun) async throws -> [ExitCode] {
        var codes: [ExitCode] = []
        for part in run.parts where part.isBegun {
            let code = try await resume(part)
            codes.append(code)
            // What ends one part would end the next one, and a person who stops one means all of them.
            guard code == .success || code == ExitStatus.someRowsLeft else { break }
        }
        return codes
    }

    private func resume(_ part: DistributedRun.Part) async throws -> ExitCode {
        if let code = completed(part) { return code }
        complain("part \(part.number):")
        do {
            try await resume(part.directory)
            return .success
        } catch let code as ExitCode {
            return code
        }
    }

    /// The exit code of a part of which nothing is to be sent; nil for any other part.
    private func completed(_ part: DistributedRun.Part) -> ExitCode? {
        guard !retryUnavailable, let status = try? RunStatus(of: part.directory), status.isDone,
            let summary = try? CampaignSummary(ofCompleteRunIn: part.directory)
        else { return nil }
        return ExitCode(summary.exitCode)
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

/// The file by which the program that divided the rows knows a complete run.
private struct CompletionMark {
    private let path: String
    private let wasThere: Bool

    init(of run: DistributedRun) {
        path = "\(run.directory)/_COMPLETE"
        wasThere = FileManager.default.fileExists(atPath: path)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Without it, that program looks at the parts again, and sends nothing.
    func restore() {
        if wasThere { _ = FileManager.default.createFile(atPath: path, contents: nil) }
    }
}
