import APNSBatch
import Foundation
import Testing

@testable import APNSBatchReport

@Suite("Files of tokens") struct TokenFilesTests {
    /// Returns the lines of both files for the lines of a `results.csv`.
    private static func files(_ results: String, _ summary: [String: Any]) throws -> (
        invalid: [String], doubtful: [String]
    ) {
        let directory = FileManager.default.temporaryDirectory.appending(path: "token-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let header = "row,token,outcome,status,reason,timestamp,apns_id,attempts,apns_unique_id,user_id\n"
        try Data((header + results).utf8).write(to: directory.appending(path: "results.csv"))
        try TokenFiles.write(try SampleNights.summary(summary), in: directory.path)
        func lines(_ name: String) throws -> [String] {
            let path = directory.appending(path: name)
            let mode = try FileManager.default.attributesOfItem(atPath: path.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            return try String(contentsOf: path, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        return (try lines("invalid-tokens.csv"), try lines("doubtful-tokens.csv"))
    }

    @Test("Only a 410 with its time is invalid; what another environment or app may explain is doubtful")
    func kinds() throws {
        let (invalid, doubtful) = try Self.files(
            #"""
            1,aa,accepted,200,,,id,1,,u
            2,bb,rejected,410,Unregistered,1700000000000,id,1,,u
            3,cc,rejected,400,BadDeviceToken,,id,1,,u
            4,dd,rejected,410,ExpiredToken,1700000000001,id,1,,u
            5,ee,rejected,400,DeviceTokenNotForTopic,,id,1,,"u
            6,zz,rejected,410,Unregistered,1,id,1,,"
            7,ff,rejected,410,Unregistered,,id,1,,u
            8,gg,rejected,400,PayloadEmpty,,id,1,,u
            9,hh,rejected,410,"Gone, says ""APNs""",1700000000002,id,1,,u
            10,ii,unavailable,503,Unregistered,1700000000003,id,5,,u
            11,jj,rejected,410,Unreg
            """#, ["rejected": 8])
        #expect(
            invalid == [
                "row,token,reason,timestamp", "2,bb,Unregistered,1700000000000", "4,dd,ExpiredToken,1700000000001",
            ])
        #expect(
            doubtful == [
                "row,token,reason,status", "3,cc,BadDeviceToken,400", "5,ee,DeviceTokenNotForTopic,400",
                "7,ff,Unregistered,410",
                "9,hh,\"Gone, says \"\"APNs\"\"\",410",
            ])
    }

    @Test("Without rows that were rejected for their tokens there are only headings, and results.csv is not read")
    func none() throws {
        let (invalid, doubtful) = try Self.files(
            "1,aa,rejected,410,Unregistered,1,id,1,,u\n", ["rejected": 3, "reasons": ["PayloadTooLarge": 3]])
        #expect(invalid.count == 1 && doubtful.count == 1)
        let read = try Self.files(
            "1,aa,rejected,410,Unregistered,1,id,1,,u\n", ["rejected": 3, "reasons": ["PayloadTooLarge": 2]])
        #expect(read.invalid.count == 2)
    }

    @Test("The files of a run in parts have the part before the row, and the rows of all parts that are counted")
    func parts() throws {
        let stage = try PartsStage()
        try stage.write(rows: [3, 3, 3, 3])
        let header = "row,token,outcome,status,reason,timestamp,apns_id,attempts,apns_unique_id\n"
        let line = ",aa,rejected,410,Unregistered,1700000000000,id,1,\n"
        let doubtful = ",bb,rejected,400,BadDeviceToken,,id,1,\n"
        for part in [0, 2, 3] {
            try stage.make(part, part == 3 ? nil : PartsStage.summary(3, rejected: 2))
            try Data("\(header)\(part + 1)\(line)3\(doubtful)".utf8)
                .write(to: URL(filePath: stage.directory(part) + "/results.csv"))
        }
        try TokenFiles.write(of: stage.report())
        func content(_ name: String) throws -> String {
            try String(contentsOfFile: "\(stage.path)/\(name)", encoding: .utf8)
        }
        #expect(
            try content("invalid-tokens.csv")
                == "part,row,token,reason,timestamp\n0,1,aa,Unregistered,1700000000000\n2,3,aa,Unregistered,1700000000000\n"
        )
        #expect(
            try content("doubtful-tokens.csv")
                == "part,row,token,reason,status\n0,3,bb,BadDeviceToken,400\n2,3,bb,BadDeviceToken,400\n")
    }
}
