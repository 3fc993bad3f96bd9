import Foundation
import Synchronization
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Unsuitable inputs") struct InputTests {
    private static let template = Campaign.Template(json: Array(#"{"aps":{"alert":"a"}}"#.utf8), name: "t.json")

    /// Returns the error for a campaign with this input file, without the name of its directory.
    private func refusal(_ content: [UInt8], _ name: String = "rows.csv") throws -> String {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: "")
        let file = stage.directory.appending(path: name)
        try Data(content).write(to: file)
        campaign.input = .file(file.path)
        campaign.template = Self.template
        do {
            _ = try CampaignCheck(campaign)
            return "taken"
        } catch {
            return "\(error)".replacing(stage.directory.path + "/", with: "")
        }
    }

    @Test func `a packed file that is cut off is refused before anything is sent`() throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: "token\n" + (1...2000).map { "\(token($0))\n" }.joined())
        guard case .file(let plain) = campaign.input else { throw CancellationError() }
        let file = stage.directory.appending(path: "rows.packed").path
        campaign.input = .file(file)
        campaign.template = Self.template
        for packing in ["gzip", "zstd"] {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", "\(packing) -c '\(plain)' > '\(file)'"]
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
            _ = try CampaignRun(campaign)
            let bytes = try Data(contentsOf: URL(filePath: file))
            try bytes.dropLast(3).write(to: URL(filePath: file))
            let error = #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
            #expect(error?.code == .input)
            let text = "\(file): byte \(bytes.count - 3): the \(packing) data is cut off: it ends inside a "
            #expect(error?.description.hasPrefix(text) == true, "\(error?.description ?? "")")
            #expect(error?.description.hasSuffix("; nothing was sent") == true)
        }
    }

    /// Bytes in memory that say how quotes are escaped.
    private struct Table: InputOrigin {
        let text: String
        let escape: Campaign.Escape?
        var name: String { "table" }

        final class Bytes: InputBytes {
            private let left: Mutex<[UInt8]?>
            init(_ text: String) { left = Mutex(Array(text.utf8)) }
            func next() -> [UInt8]? {
                left.withLock { left in
                    defer { left = nil }
                    return left
                }
            }
            func cancel() {}
        }

        func open() -> any InputBytes { Bytes(text) }
    }

    @Test("An origin says itself how its quotes are escaped, or leaves it to the campaign")
    func escapeOfOrigin() throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: "")
        campaign.template = .init(json: Array(#"{"aps":{"alert":"{{text}}"}}"#.utf8), name: "t.json")
        func alert(_ text: String, _ own: Campaign.Escape?, _ given: Campaign.Escape) throws -> String {
            campaign.escape = given
            campaign.input = .origin(Table(text: "token,text\n\(token(1)),\(text)\n", escape: own))
            let preview = try CampaignPreview(campaign)
            return String(decoding: try #require(try preview.next()).payload, as: UTF8.self)
        }
        let path = #"{"aps":{"alert":"C:\\"}}"#
        #expect(try alert(#""C:\""#, Campaign.Escape.none, .automatic) == path)
        #expect(try alert(#""C:\""#, Campaign.Escape.none, .backslash) == path)
        #expect(try alert(#""C:\\""#, .backslash, .automatic) == path)
        #expect(try alert(#""C:\\""#, nil, .backslash) == path)
        let error = #expect(throws: CampaignError.self) { try alert(#""C:\""#, nil, .automatic) }
        #expect(error?.description.hasPrefix("table:2:69: a backslash before a quote") == true, "\(error as Any)")
    }

    @Test("A file of another format is named, with advice")
    func foreign() throws {
        let rows = "token\n\(token(1))\n"
        let utf16 =
            "rows.csv: this is UTF-16: save it as CSV UTF-8, or run iconv -f UTF-16 -t UTF-8 rows.csv > utf8.csv"
        #expect(try refusal([0xFF, 0xFE] + rows.utf8.flatMap { [$0, 0] }) == utf16)
        #expect(try refusal([0xFE, 0xFF] + rows.utf8.flatMap { [0, $0] }) == utf16)
        #expect(try refusal(rows.utf8.flatMap { [$0, 0] }) == utf16)
        #expect(try refusal(rows.utf8.flatMap { [0, $0] }) == utf16)
        func packed(_ name: String, _ command: String, _ file: String) -> String {
            "\(file): this is \(name): unpack it, or run \(command) \(file) | apns-batch send … --input -"
        }
        #expect(try refusal([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 0], "r.xz") == packed("xz", "xzcat", "r.xz"))
        #expect(try refusal(Array("BZh91AY".utf8), "r.bz2") == packed("bzip2", "bzcat", "r.bz2"))
        #expect(
            try refusal([0x50, 0x4B, 3, 4, 20, 0], "r.xlsx")
                == "r.xlsx: this is a ZIP archive or an Excel workbook (.xlsx): unpack it, or save it as CSV UTF-8")
        #expect(
            try refusal([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1], "r.xls")
                == "r.xls: this is an Excel workbook (.xls): save it as CSV UTF-8")
        #expect(
            try refusal(Array("sep=;\r\ntoken;a\r\n".utf8))
                == "rows.csv: the first line is Excel's \"sep=\", not the header row: remove it and give the delimiter ';'"
        )
        let parquet = Array("PAR1\u{15}\u{04}".utf8)
        // DuckDB takes a file for what its name says, unless it is told what the file is.
        for (name, query) in [
            ("r.parquet", "\"FROM read_parquet('r.parquet')\""), ("export.csv", "\"FROM read_parquet('export.csv')\""),
            ("my \"r\" o'n.parquet", #""FROM read_parquet('my \"r\" o''n.parquet')""#),
            ("a\u{200B}.parquet", #""FROM read_parquet('a\U0000200B.parquet')""#),
        ] {
            let text = try refusal(parquet, name)
            #expect(
                text.hasSuffix("this is Parquet: write input_query: { engine: duckdb, query: \(query) }"), "\(text)")
        }
        #expect(
            try refusal(Array("Obj\u{1}\u{4}".utf8), "r.avro")
                == "r.avro: this is Avro: run avro-tools tojson r.avro > rows.ndjson")
        #expect(
            try refusal(Array("ORC\u{3}\0".utf8), "my r.orc")
                == "my r.orc: this is ORC: run python3 -c 'import sys, pyarrow.orc as f, pyarrow.csv as c; c.write_csv(f.read_table(sys.argv[1]), \"rows.csv\")' 'my r.orc'"
        )
        #expect(try refusal(Array("ARROW1\0\0".utf8), "r.arrow").contains("pyarrow.feather as f"))
        #expect(try refusal(Array("SQLite format 3\0".utf8), "r.db").contains("run sqlite3 -header -csv r.db 'SELECT "))
        #expect(
            try refusal(Array("[\n  {\"token\": 1}]".utf8), "r.json")
                == "r.json: this is a JSON array, and each row must be a line: run jq -c '.[]' r.json > rows.ndjson")
        #expect(try refusal(Array("\u{FEFF}sep=,\ntoken,a\n".utf8)).contains("remove it and give the delimiter ','"))
    }

    @Test("An input with CR line ends is named as such, and no token is shown")
    func carriageReturns() throws {
        let expected = "rows.csv: lines end in CR alone, as on old Macs: run tr '\\r' '\\n' < rows.csv > lines.csv"
        #expect(try refusal(Array("token,a\r\(token(1)),x\r".utf8)) == expected)
        let many = (1...5000).map { "\(token($0)),x\r" }.joined()
        #expect(try refusal(Array("token,a\r\(many)".utf8)) == expected)
        #expect(try refusal(Array("token,\"a\rb\"\r\n\(token(1)),x\r\n".utf8)) == "taken")
    }

    @Test("A missing header row is reported, and no whole token is shown")
    func noHeader() throws {
        let text = try refusal(Array("\(token(0xABCD)),x\n".utf8))
        #expect(
            text == #"rows.csv:1: no column "token"; there are "000000000000…", "x"; the first line looks like a row: "#
                + "is the header row missing?")
        let twice = try refusal(Array("\(token(1)),\(token(1))\n".utf8))
        #expect(twice == #"rows.csv: columns 1 and 2 of the header row are both named "000000000000…""#)
    }

    @Test("An input of channels is directed to broadcast, and one of devices to send")
    func recipients() throws {
        let text = try refusal(Array("channel_id,a\nx,y\n".utf8))
        #expect(
            text
                == #"rows.csv:1: no column "token"; there are "channel_id", "a"; the rows name channels: use apns-batch broadcast"#
        )
        let stage = try Stage()
        var campaign = try stage.campaign(rows: "token\n\(token(1))\n")
        campaign.template = Self.template
        campaign.recipients = .channels(bundleID: "com.example.app")
        #expect { try CampaignCheck(campaign) } throws: {
            "\($0)".hasSuffix("; the rows name devices: use apns-batch send")
        }
    }

    @Test("An input with fewer rows than required is refused before anything is sent")
    func minRows() async throws {
        let stage = try Stage()
        // The input has more than one chunk.
        let count = 10_000
        var campaign = try stage.campaign(rows: "token\n" + (1...count).map { "\(token($0))\n" }.joined())
        campaign.template = Self.template
        campaign.minRows = UInt64(count + 1)
        let directory = try #require(campaign.runDirectory)
        let short = campaign
        #expect { try CampaignRun(short) } throws: {
            ($0 as? CampaignError)?.code == .configuration
                && "\($0)".hasSuffix("rows.csv: expected at least 10001 rows, found 10000; nothing was sent")
        }
        #expect { try CampaignCheck(short) } throws: { "\($0)".hasSuffix("found 10000; nothing was sent") }
        #expect(!FileManager.default.fileExists(atPath: directory))
        campaign.minRows = UInt64(count)
        #expect(try await CampaignRun(campaign).send().accepted == UInt64(count))
    }

    @Test("The rows of an input that can be read only once and is not kept cannot be counted in advance")
    func countedPipe() throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: "")
        campaign.template = Self.template
        campaign.minRows = 1
        campaign.input = .standardInput
        let piped = campaign
        let message = "min-rows: <stdin> is not a file, and only the rows of a file can be counted before any is sent"
        #expect {
            try CampaignRun(piped.campaign, input: .standardInput, spool: CampaignRun.Spool.none)
        } throws: {
            "\($0)" == message
        }
    }

    @Test("A run without rows is not a success")
    func empty() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: "token\n")
        campaign.template = Self.template
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.ending == .complete && summary.rows == 0 && !summary.isClean)
    }
}
