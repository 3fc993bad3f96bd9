import APNSBatchBasics
import InMemoryLogging
import Logging
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchSending

/// Text from outside in what the library says.
@Suite("Text that the library says") struct PrintableTextTests {
    private static let hostile = "x\u{1B}]0;PWN\u{7}\n\u{9B}2J\u{202E}y\0"
    private static let shown = #"x\u001b]0;PWN\u0007\n\u009b2J\u202ey\u0000"#

    @Test("Descriptions of errors are printable")
    func errors() {
        #expect(CampaignError(.input, Self.hostile).description == Self.shown)
        #expect(SendError(.cancelled, .notSent, Self.hostile).description == Self.shown)
        let error = ChannelError(.answer, Self.hostile, remedy: Self.hostile)
        #expect(error.description == Self.shown && error.remedy == Self.shown)
        let storage = StorageError("write", Self.hostile, code: 28)
        #expect(CampaignError(.results, "\(storage)", cause: storage).description.contains(Self.shown))
    }

    @Test("Messages of the log and their metadata are printable, and those of the program's logger stay")
    func log() throws {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in handler }
        logger[metadataKey: "own"] = "a\nb"
        logger.logLevel = .trace
        let log = RunLog(logger: logger, endpoint: Self.hostile)
        log.fatalAnswer(Self.hostile, Self.hostile, of: Self.hostile)
        let entry = try #require(handler.entries.last)
        #expect(entry.message.description == Self.shown)
        for key in ["apns.endpoint", "apns.provider", "apns.reason"] { #expect(entry.metadata[key] == "\(Self.shown)") }
        #expect(entry.metadata["own"] == "a\nb")
        var again = logger.printable.printable
        again[metadataKey: "more"] = "1"
        again.info("\(Self.hostile)", metadata: ["list": ["\(Self.hostile)"]])
        let last = try #require(handler.entries.last)
        #expect(last.message.description == Self.shown && last.metadata["more"] == "1")
        #expect(!"\(last.metadata["list"] ?? "")".contains("\u{1B}"))
    }

    @Test(
        "What a destination or a proxy cannot be is refused before anything is read",
        arguments: ["", "a b", "x\r\nhost: y", "[::1]"])
    func hosts(host: String) async throws {
        let stage = try Stage()
        defer { withExtendedLifetime(stage) {} }
        for isProxy in [false, true] {
            var campaign = try stage.campaign(rows: "token,payload\n00aa,{}\n")
            if isProxy {
                campaign.proxy = .init(host: host, port: 3128)
            } else {
                campaign.destination = .host(host, port: 443)
            }
            let error = #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
            #expect(error?.code == .configuration)
            #expect(
                error?.description.hasPrefix("\(isProxy ? "proxy" : "destination"): expected the name") == true,
                "\(String(describing: error))")
        }
        #expect(throws: ChannelError.self) {
            try ChannelManager(bundleID: "com.example.app", at: .host(host, port: 443), credentials: .none)
        }
    }

    @Test("Port 0 is refused")
    func ports() throws {
        let stage = try Stage()
        defer { withExtendedLifetime(stage) {} }
        var campaign = try stage.campaign(rows: "token,payload\n00aa,{}\n")
        campaign.destination = .host("localhost", port: 0)
        let error = #expect(throws: CampaignError.self) { try CampaignRun(campaign) }
        #expect(error?.description == "destination: expected a port from 1 to 65535, found 0")
    }
}

@Suite("Kinds of failures") struct FailureKindTests {
    @Test("A failure of the system is of its kind, wherever it is noticed")
    func kinds() {
        for code in [CampaignError.Code.configuration, .input, .results] {
            func error(_ number: Int32) -> (CampaignError, isOfDisk: Bool) {
                let cause = StorageError("write", "x", code: number)
                return (CampaignError(code, "\(cause)", cause: cause), cause.isOfDisk)
            }
            for number in [28, 122, 5, 116] as [Int32] {
                #expect(error(number).0.code == code && error(number).isOfDisk, "\(number)")
            }
            for number in [12, 23, 24] as [Int32] {
                #expect(error(number).0.code == .system && !error(number).isOfDisk)
            }
            for number in [2, 13, 21, -1, -2] as [Int32] {
                #expect(error(number).0.code == code && !error(number).isOfDisk)
            }
        }
    }
}
