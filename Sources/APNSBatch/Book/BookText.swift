import APNSBatchBasics
import APNSBatchRecords

/// The sentences about decisions.
enum BookText {
    static func sentence(_ decision: CampaignBook.Decision) -> String {
        switch decision {
        case .send: "the input was not sent before"
        case .resume(let run):
            "\(run) has sent a part of this input, and is not finished: apns-batch resume \(run.shellQuoted)"
        case .finish(let run): "\(run) is not finished: apns-batch resume \(run.shellQuoted)"
        case .answer(let run): "\(run) has sent this input; to send it again, give --again"
        case .busy(let run): "\(run): another process is working on this run"
        case .wait(.absent(let reason)): "\(reason); nothing was sent"
        case .wait(.sent(let run)):
            "the input is the one that \(run) has sent: the export has not come yet; to send it again, give --again"
        case .refuse(let objection): sentence(objection)
        }
    }

    /// The commands that end an unfinished run.
    static func endings(of run: String) -> String {
        "finish it first: apns-batch resume \(run.shellQuoted); or give it up: apns-batch abandon \(run.shellQuoted)"
    }

    /// Why it is unknown which rows a correction has sent; nil if it is known.
    static func obscurity(of correction: CorrectionFacts.Correction) -> String? {
        let run = correction.directory
        return switch correction.state {
        case .lost:
            "\(run) has sent corrected rows, or may have, and its ledger is gone: it is unknown which rows were sent. Restore the directory"
                + (correction.isOver
                    ? ""
                    : "; or give it up, so that its rows can be sent a second time: apns-batch abandon \(run.shellQuoted)")
        case .unnamed:
            "\(run) has sent corrected rows, or may have, and its \(CorrectionRecord.name) is gone, which lists them: restore "
                + "that file"
        case .complete, .unfinished, .atWork: nil
        }
    }

    private static func sentence(_ objection: CampaignBook.Objection) -> String {
        switch objection {
        case .another(let run):
            "\(run) has sent another input this night, and this one was not sent; to send it, too, give --again"
        case .changed(let run):
            "\(run) has these rows with another template or other header fields, and nothing was sent; to send them again, give --again"
        case .shared(let run):
            "\(run) is not finished and has begun to send rows of this input, which is not the one that it began with; nothing was sent. "
                + "Finish it first: apns-batch resume \(run.shellQuoted); or give it up: apns-batch abandon \(run.shellQuoted); or give "
                + "--again, which sends all rows, some of them a second time"
        case .correction(let reason): "\(reason); nothing was sent"
        case .abandoned(let run):
            "\(run) was given up after it had sent a part of this input; to send all rows, some of them a second time, give --again"
        case .partlySent(let files, let run):
            "\(run) has sent \(list(files)) of this input, in whole or in part, and nothing was sent; name only files with other rows, or "
                + "give --again to send all"
        case .grown(let run, let rows):
            "the input begins with the \(rows.grouped) rows that \(run) has sent, and nothing was sent; to send only the rows behind "
                + "them, give --again --from-row \(rows &+ 1)"
        case .lost(let run):
            "\(run) has sent a part of this input, or may have, and its ledger or its rows are gone: it is unknown which rows were sent. Restore "
                + "the directory; or give --again, which sends all rows, some of them a second time"
        }
    }

    private static let most = 3

    private static func list(_ files: [String]) -> String {
        let more = files.count > most ? " and \(files.count - most) more" : ""
        return files.prefix(most).joined(separator: ", ") + more
    }
}
