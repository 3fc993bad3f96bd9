import Foundation

/// A part whose run has been moved since it began: the copy of the campaign and the rows are where its run is now.
struct MovedPart {
    /// The campaign file of the run; nil if that of the last call is still there, or if there is no other one.
    let campaignFile: String?
    /// The rows of the part; nil likewise.
    let input: String?

    /// - Parameters:
    ///   - before: The arguments of the last call, whose paths are absolute.
    ///   - directory: The run directory, under the name that it has now.
    init(_ before: RunArguments, in directory: String) {
        let run = CampaignCall.runOfPart(directory)
        /// Returns the file of that name in a folder of the run, if the one at its old path is gone.
        func moved(_ path: String?, to folder: String) -> String? {
            guard let run, let path, !FileManager.default.fileExists(atPath: path) else { return nil }
            let now = run.appending(path: folder).appending(path: URL(filePath: path).lastPathComponent).path
            return FileManager.default.fileExists(atPath: now) ? now : nil
        }
        campaignFile = moved(before.campaignFile, to: "campaign")
        input = moved(before.settings.input, to: "input")
    }
}
