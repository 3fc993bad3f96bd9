import Foundation
import Testing

@testable import APNSBatchSimulator

/// Tests with third-party clients, which are the command-line programs nghttp and curl.
@Suite("Simulator with other clients")
struct ForeignClientTests {
    /// Runs a program and returns all of its output.
    static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes a payload to a file that exists while `body` runs.
    static func withPayload(_ payload: String, _ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "payload-\(UUID().uuidString).json"
        try payload.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    /// Returns the regular fields of a request as arguments of both programs.
    static func headers(_ request: TestRequest) -> [String] {
        request.fields.filter { !$0.name.hasPrefix(":") }.flatMap { ["-H", "\($0.name): \($0.value)"] }
    }

    static let cases: [(change: @Sendable (inout TestRequest) -> Void, payload: String, status: Int, body: String)] = [
        ({ _ in }, #"{"aps":{"alert":"Grüße 😀"}}"#, 200, ""),
        ({ $0["apns-topic"] = nil }, #"{"aps":{"alert":"a"}}"#, 400, #"{"reason":"MissingTopic"}"#),
        ({ $0["authorization"] = "bearer x" }, #"{"aps":{"alert":"a"}}"#, 403, #"{"reason":"InvalidProviderToken"}"#),
        ({ $0[":path"] = "/3/device/12" }, String(repeating: " ", count: 4097), 413, #"{"reason":"PayloadTooLarge"}"#),
        ({ $0[":path"] = "/4/device/12" }, "{}", 404, #"{"reason":"BadPath"}"#),
    ]

    @Test("The simulator answers nghttp", arguments: cases.indices)
    func nghttp(_ index: Int) throws {
        let stage = try Stage()
        let (change, payload, status, body) = Self.cases[index]
        let request = stage.request(change)
        let report = try stage.run { port in
            try Self.withPayload(payload) { file in
                let url = "https://127.0.0.1:\(port)\(request[":path"] ?? "")"
                let arguments = ["-v", "--no-dep", "-t", "20", "-d", file] + Self.headers(request) + [url]
                let output = try Self.run("nghttp", arguments)
                #expect(output.contains(":status: \(status)"), "\(output)")
                #expect(output.contains("apns-id: \(request["apns-id"] ?? "")"))
                #expect(body.isEmpty || output.contains(body))
                #expect(output.contains("SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1]"))
                // It depends on timing whether nghttp receives the higher limit after its only answer.
                let isRaised = output.contains("SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1000]")
                #expect(!isRaised || status != 403 && status != 404)
            }
        }
        #expect(report.requests == 1)
        #expect(report.accepted == (status == 200 ? 1 : 0))
    }

    @Test("The simulator answers curl, which verifies certificate and name", arguments: cases.indices)
    func curl(_ index: Int) throws {
        let stage = try Stage()
        let (change, payload, status, body) = Self.cases[index]
        let request = stage.request(change)
        let report = try stage.run { port in
            try Self.withPayload(payload) { file in
                try Self.withPayload(String(decoding: stage.identity.caPEM, as: UTF8.self)) { ca in
                    let url = "https://localhost:\(port)\(request[":path"] ?? "")"
                    let fixed = [
                        "-4", "-sS", "--http2", "--cacert", ca, "--max-time", "20", "--data-binary", "@" + file,
                    ]
                    let arguments = fixed + ["-w", "|%{http_version} %{http_code}"] + Self.headers(request) + [url]
                    let output = try Self.run("curl", arguments)
                    #expect(output == "\(body)|2 \(status)")
                }
            }
        }
        #expect(report.requests == 1)
    }

    @Test("A client without HTTP/2 is refused, and the simulator goes on")
    func http1() throws {
        let stage = try Stage()
        let report = try stage.run { port in
            let url = "https://127.0.0.1:\(port)/3/device/00"
            let output = try Self.run("curl", ["-sSk", "--http1.1", "--max-time", "20", url])
            #expect(output.hasPrefix("curl: ("))
            #expect(try stage.client(port).send([stage.request()])[0].text == "200")
        }
        #expect(report.requests == 1)
        #expect(report.connections == 1)
    }
}
