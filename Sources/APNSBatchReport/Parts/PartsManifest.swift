import APNSBatch
import APNSBatchBasics
import APNSBatchRecords
import FoundationEssentials

/// The content of `manifest.json`, in which the program that divides a campaign lists its parts. Other members are for that program.
struct PartsManifest: Equatable {
    static let name = RunDirectory.partsManifest
    static let bytesMax = 256 * 1024 * 1024
    static let partsMax = 1_000_000
    /// No number of rows or bytes is greater, so that sums of them do not overflow.
    private static let countMax = 1 << 40
    private static let numberMax = 9_999_999

    struct Part: Equatable {
        var number: Int
        var rows: UInt64
    }

    var campaignID: CampaignID
    /// The name of the campaign; nil if it has none.
    var campaign: String?
    /// When the campaign was divided, in UTC.
    var began: String
    /// In the order of their numbers.
    var parts: [Part]
    /// The bytes of all parts.
    var bytes: UInt64

    var rows: UInt64 { parts.reduce(0) { $0 + $1.rows } }

    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results``, which names the file.
    init(of directory: String) throws(CampaignError) {
        let path = "\(directory)/\(Self.name)"
        let content = try CampaignError.mapping(.results) { try Self.read(path) }
        do {
            try self.init(JSONDecoder().decode(Form.self, from: Data(content)))
        } catch let error as DecodingError {
            throw CampaignError(.results, "\(path): \(Self.text(of: error))", cause: error)
        } catch {
            throw CampaignError(.results, "\(path): \(error)", cause: error)
        }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let file = try FileStorage(path, .readOnly)
        guard file.length <= bytesMax else {
            throw Fault("\(path): expected at most \(bytesMax) bytes, found \(file.length)")
        }
        var bytes = [UInt8](repeating: 0, count: Int(file.length))
        let count = try unsafe bytes.withUnsafeMutableBytes { try unsafe file.read(at: 0, into: $0) }
        return Array(bytes.prefix(count))
    }

    private init(_ form: Form) throws(Fault) {
        guard form.format == 1 else { throw Fault("format: expected 1, found \(form.format)") }
        guard LocalTime.instant(form.began) != nil else {
            throw Fault("began: expected a time such as 2026-11-25T10:00:00Z")
        }
        guard form.parts.count <= Self.partsMax else {
            throw Fault("parts: expected at most \(Self.partsMax), found \(form.parts.count)")
        }
        for (index, part) in form.parts.enumerated() {
            guard 0...Self.numberMax ~= part.part else {
                throw Fault("parts[\(index)].part: expected 0 to \(Self.numberMax), found \(part.part)")
            }
            guard 0...Self.countMax ~= part.rows, 0...Self.countMax ~= part.bytes else {
                throw Fault("parts[\(index)]: expected 0 to \(Self.countMax) rows and bytes")
            }
        }
        let parts = form.parts.map { Part(number: $0.part, rows: UInt64($0.rows)) }.sorted { $0.number < $1.number }
        if let twice = zip(parts, parts.dropFirst()).first(where: { $0.number == $1.number }) {
            throw Fault("parts: part \(twice.0.number) is there twice")
        }
        (campaignID, campaign, began, self.parts) = (form.campaignID, form.name, form.began, parts)
        bytes = form.parts.reduce(0) { $0 + UInt64($1.bytes) }
    }

    private struct Fault: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// The members that are read. Paths are not among them: the directory of a part follows from its number.
    private struct Form: Decodable {
        struct Part: Decodable {
            var part: Int
            var bytes: Int
            var rows: Int
        }

        var format: Int
        var campaignID: CampaignID
        var name: String?
        var began: String
        var parts: [Part]

        enum CodingKeys: String, CodingKey {
            case format, name, began, parts
            case campaignID = "campaign_id"
        }
    }

    /// What is wrong, with its place, such as `parts[3].rows: expected a whole number`.
    private static func text(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(place(context.codingPath + [key])): it is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "expected an object of JSON with whole numbers; the file was cut, or is of another program"
                : "\(place(context.codingPath)): expected \(expected(context.codingPath))"
        @unknown default: "it cannot be read"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.reduce("") { place, key in
            if let index = key.intValue { return "\(place)[\(index)]" }
            return place.isEmpty ? key.stringValue : "\(place).\(key.stringValue)"
        }
    }

    private static func expected(_ path: [any CodingKey]) -> String {
        switch path.last?.stringValue {
        case "campaign_id": "a UUID"
        case "name", "began": "a text"
        case "parts": "a list"
        case "format", "part", "bytes", "rows": "a whole number"
        default: "an object"
        }
    }
}
