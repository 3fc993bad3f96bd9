import APNSBatchBasics
import APNSBatchModel
import FoundationEssentials
import Glibc

/// The description of a correction in its directory: the file `correction.json`. It is there before the first push, and never changes.
package struct CorrectionRecord: Sendable, Equatable, Codable {
    package var campaign: KnownCampaign
    /// The absolute path that the directory of the corrected run had. It may have been moved since, together with this one.
    package var runDirectory: String
    /// When the corrected run began, in UTC, such as `2026-11-21T03:00:00Z`.
    package var began: String
    /// All unpacked bytes of the input.
    package var input: KnownInput.Content
    /// For each row of the input the number of the row of the corrected run.
    package var rows: [UInt64]

    package init(
        campaign: KnownCampaign, runDirectory: String, began: String, input: KnownInput.Content, rows: [UInt64]
    ) {
        (self.campaign, self.runDirectory, self.began) = (campaign, runDirectory, began)
        (self.input, self.rows) = (input, rows)
    }

    private enum Key: String, CodingKey {
        case began, input, rows
        case runDirectory = "run_dir"
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        self.init(
            campaign: try KnownCampaign(from: decoder),
            runDirectory: try members.decode(String.self, forKey: .runDirectory),
            began: try members.decode(String.self, forKey: .began),
            input: try members.decode(KnownInput.Content.self, forKey: .input),
            rows: try members.decode([UInt64].self, forKey: .rows))
    }

    package func encode(to encoder: any Encoder) throws {
        try campaign.encode(to: encoder)
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(runDirectory, forKey: .runDirectory)
        try members.encode(began, forKey: .began)
        try members.encode(input, forKey: .input)
        try members.encode(rows, forKey: .rows)
    }
}

// MARK: Its file

extension CorrectionRecord {
    package static let name = "correction.json"
    private static let kind = OutputFile.Kind("the record of a correction", at: .own) {
        $0.first == UInt8(ascii: "{") && String(decoding: $0, as: UTF8.self).contains("\"run_dir\"")
    }
    /// The number of a row takes at most 20 digits and a comma.
    private static let bytesMax = 1 << 30

    /// Whether a directory has the file.
    package static func exists(in directory: String) -> Bool { unsafe access("\(directory)/\(name)", F_OK) == 0 }

    /// Reads the record of a directory; returns nil if there is none, or if it cannot be understood.
    package init?(in directory: String) {
        guard let bytes = try? OpenFile.content(of: "\(directory)/\(Self.name)", most: Self.bytesMax),
            let record = try? JSONDecoder().decode(Self.self, from: Data(bytes))
        else { return nil }
        self = record
    }

    /// Writes the record. It is on the disk on return.
    package func write(to directory: String) throws(CampaignError) {
        let path = "\(directory)/\(Self.name)"
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try OutputFile.write(Array(try encoder.encode(self)), to: path, Self.kind, readers: .owner)
            try FileStorage.syncDirectory(directory)
        } catch {
            throw CampaignError(.results, "cannot write \(path): \(error)", cause: error)
        }
    }
}
