import Foundation
import Testing

extension EndToEndUnderFault {
    /// Tests of every fault of the simulator's script, over TLS. The campaign completes, and the simulator's counts
    /// explain the results.
    @Suite struct Faults {
        /// Faults after which no row may be received twice.
        static let harmless: [(name: String, faults: [String])] = [
            ("goaway", ["{ when: { after: 100, every: 100 }, goaway: {} }"]),
            ("goaway", ["{ when: { after: 100 }, goaway: { debug: '{\"reason\":\"Shutdown\"}', twice: true } }"]),
            ("goaway", ["{ when: { after: 100 }, goaway: { graceful: true, code: ENHANCE_YOUR_CALM } }"]),
            ("goaway", ["{ when: { connection: 1 }, goaway: { last_stream: 0 } }"]),
            ("reset", ["{ when: { every: 7 }, reset: { code: REFUSED_STREAM } }"]),
            ("reset", ["{ when: { every: 7 }, reset: { code: NO_ERROR, answer: full } }"]),
            (
                "reset",
                [
                    "{ shape: { form: early } }", "{ settings: { initial_window_size: 16 } }",
                    "{ when: { every: 7 }, reset: { code: NO_ERROR, answer: full } }",
                ]
            ),
            ("settings", ["{ when: { after: 100 }, settings: { max_concurrent_streams: 0, ms: 300 } }"]),
            ("settings", ["{ when: { after: 100, connection: 1 }, settings: { max_concurrent_streams: 0 } }"]),
            ("settings", ["{ when: { after: 100, every: 50 }, settings: { max_concurrent_streams: 1, ms: 20 } }"]),
            ("settings", ["{ when: { after: 100, every: 100 }, settings: { max_concurrent_streams: 3 } }"]),
            ("settings", ["{ settings: { initial_window_size: 1 } }"]),
            ("settings", ["{ when: { after: 50 }, settings: { initial_window_size: 0, ms: 300 } }"]),
            ("settings", ["{ when: { after: 50 }, settings: { max_frame_size: 16384, max_header_list_size: 300 } }"]),
            (
                "settings",
                [
                    "{ when: { after: 50, every: 100 }, settings: { header_table_size: 0 } }",
                    "{ when: { after: 100, every: 100 }, settings: { header_table_size: 65536 } }",
                ]
            ),
            ("stall", ["{ when: { after: 100, connection: 1 }, stall: { side: reading, ms: 500 } }"]),
            ("stall", ["{ when: { after: 100, connection: 1 }, stall: { side: writing, ms: 500 } }"]),
            ("stall", ["{ when: { after: 100, connection: 1 }, stall: { side: both, ms: 500 } }"]),
            ("ignore_pings", ["{ ignore_pings: true }"]),
            ("shape", ["{ shape: { form: padded } }"]),
            ("shape", ["{ shape: { form: continuation } }"]),
            ("shape", ["{ shape: { form: trailers } }"]),
            ("shape", ["{ shape: { form: interim } }"]),
            ("shape", ["{ shape: { form: pieces } }"]),
            ("shape", ["{ shape: { form: unknown } }"]),
            ("shape", ["{ shape: { form: early } }"]),
            ("flood", ["{ when: { after: 100 }, flood: { kind: window_update, count: 20000 } }"]),
            ("flood", ["{ when: { after: 100 }, flood: { kind: fields, count: 20 } }"]),
            ("flood", ["{ when: { after: 100 }, flood: { kind: interim, count: 2000 } }"]),
            // The count is the largest that the window of a stream allows.
            ("flood", ["{ when: { after: 100 }, flood: { kind: data, count: 1000 } }"]),
        ]

        @Test(arguments: harmless)
        func `every row is accepted, and none came twice`(name: String, faults: [String]) throws {
            let run = try FaultRun(faults)
            run.expectAllAccepted(twice: false)
            #expect(run.report.happened(name).contains { $0 > 0 }, "\(run.report.lines)")
            // Settings are no reason to end a connection.
            if name == "settings" { #expect(!run.finished.errors.contains("GOAWAY"), "\(run.finished)") }
        }

        /// Faults after which a request may have arrived without an answer, so that it is sent again.
        static let harmful: [(name: String, faults: [String])] = [
            ("reset", ["{ when: { every: 7 }, reset: { code: INTERNAL_ERROR } }"]),
            ("reset", ["{ when: { every: 7 }, reset: { code: CANCEL, answer: fields } }"]),
            ("abort", ["{ when: { after: 100, times: 3 }, abort: reset }"]),
            ("abort", ["{ when: { after: 100, times: 3 }, abort: close }"]),
            ("abort", ["{ when: { after: 100, times: 3 }, abort: alert }"]),
            ("abort", ["{ when: { after: 100, times: 3 }, abort: close_notify }"]),
            ("flood", ["{ when: { after: 100, connection: 1 }, flood: { kind: fields, count: 100 } }"]),
            ("flood", ["{ when: { after: 100, connection: 1 }, flood: { kind: continuation, count: 10000 } }"]),
            ("flood", ["{ when: { after: 100, connection: 1 }, flood: { kind: ping, count: 20000 } }"]),
            ("flood", ["{ when: { after: 100, connection: 1 }, flood: { kind: settings, count: 20000 } }"]),
            ("flood", ["{ when: { after: 100, connection: 1 }, flood: { kind: empty_data, count: 20000 } }"]),
            ("flood", ["{ when: { after: 100, connection: 1 }, flood: { kind: data, count: 4000 } }"]),
            (
                "refuse_connects",
                [
                    "{ when: { of: all, after: 100 }, refuse_connects: 700 }",
                    "{ when: { after: 100, connection: 1 }, abort: reset }",
                ]
            ),
        ]

        @Test(arguments: harmful)
        func `every row is accepted, although some come twice`(name: String, faults: [String]) throws {
            let run = try FaultRun(faults, ["--attempts", "10"])
            run.expectAllAccepted(twice: true)
            #expect(run.report.happened(name).contains { $0 > 0 }, "\(run.report.lines)")
        }

        static let malformed = [
            "hpack_index", "hpack_table_size", "hpack_huffman", "hpack_truncated", "data_before_fields", "padding",
            "push_promise", "interleaved", "status_missing", "status_letters", "upper_case", "content_length",
            "frame_too_large", "data_on_idle", "settings_length", "settings_frame_size", "settings_window",
            "ping_length", "window_overflow", "window_zero", "continuation_alone", "goaway_short", "reset_on_idle",
            "http1", "noise",
        ]

        @Test(arguments: malformed)
        func `bytes that break HTTP/2 cost a connection or a stream, no row`(kind: String) throws {
            let run = try FaultRun(["{ when: { after: 100, connection: 1 }, malformed: \(kind) }"])
            run.expectAllAccepted(twice: true)
            #expect(run.report.happened("malformed") == [1])
        }

        static let bytes: [(at: String, how: String)] = [
            ("at_byte: 0", "reset"), ("at_byte: 1", "reset"), ("at_byte: 100", "close"), ("at_byte: 1500", "reset"),
            ("at_byte: 3000", "close"), ("at_byte: 3001", "reset"), ("at_byte: 9000", "reset"),
            ("at_byte: 9001", "close"), ("at_byte_received: 0", "reset"), ("at_byte_received: 0", "close"),
            ("at_byte_received: 300", "reset"), ("at_byte_received: 900", "close"),
            ("at_byte_received: 20000", "reset"), ("at_byte: 9000", "alert"), ("at_byte: 9000", "close_notify"),
        ]

        @Test(arguments: bytes)
        func `a connection that ends at any byte costs no row`(at: String, how: String) throws {
            let run = try FaultRun(["{ when: { \(at), connection: 1 }, abort: \(how) }"], ["--attempts", "10"])
            run.expectAllAccepted(twice: true)
            #expect(run.report.number("connections_aborted") == 1)
        }

        static let storms: [(status: Int, reason: String, after: String)] = [
            (503, "ServiceUnavailable", ", retry_after: 1"), (503, "Shutdown", ""), (429, "TooManyRequests", ""),
            (429, "TooManyRequests", ", retry_after: 1"), (500, "InternalServerError", ""),
        ]

        @Test(arguments: storms)
        func `a storm of answers passes, and the rows are sent again`(status: Int, reason: String, after: String) throws
        {
            let run = try FaultRun([
                "{ when: { of: all, after: 100 }, storm: { status: \(status), reason: \(reason), requests: 50\(after) } }"
            ])
            run.expectAllAccepted(twice: true)
            #expect(run.report.lines.contains("answered \(status) \(reason): 50"))
            #expect(run.results.lines.reduce(0) { $0 + $1.attempts } == 650)
        }

        @Test func `a connection that this program closes after an answer is said to end so`() throws {
            let run = try FaultRun([], rules: [.init(share: 0.05, status: 503, reason: "Shutdown", times: 1)])
            run.expectAllAccepted(twice: true)
            let ends = run.results.allSessions["connections_ended"] as? [String: Int] ?? [:]
            #expect(Set(ends.keys) == ["closed by this program after 503 Shutdown"], "\(ends)")
        }

        @Test func `every connection is reset before TLS: exit code 69 within the patience given, nothing sent`() throws
        {
            let run = try FaultRun(
                ["{ when: { at_byte_received: 0 }, abort: reset }"], ["--connect-patience", "1"], expecting: 69)
            #expect(run.results.count("accepted") == 0)
            #expect(run.counts.isEmpty)
            #expect(run.finished.errors.contains("cannot connect"), "\(run.finished)")
        }

        @Test func `all faults of a bad night together: every row is accounted for`() throws {
            // No storm begins with the last rows: few probes would have to outlast it.
            let storms = [500, 1200, 1900].map {
                "{ when: { of: all, after: \($0) }, storm: { status: 503, reason: ServiceUnavailable, requests: 60 } }"
            }
            let run = try FaultRun(
                storms + [
                    "{ when: { after: 300, connection_every: 3 }, goaway: { debug: '{\"reason\":\"Shutdown\"}', twice: true } }",
                    "{ when: { every: 97 }, reset: { code: REFUSED_STREAM } }",
                    "{ when: { every: 131 }, reset: { code: INTERNAL_ERROR } }",
                    "{ when: { after: 200, every: 400 }, settings: { max_concurrent_streams: 1, ms: 30 } }",
                    "{ when: { at_byte: 20000, connection_every: 4 }, abort: reset }",
                    "{ when: { every: 150 }, shape: { form: trailers, requests: 40 } }",
                    "{ when: { after: 350, connection_every: 5 }, malformed: hpack_index }",
                ], rows: 3000, ["--attempts", "20"])
            run.expectAllAccepted(rows: 3000, twice: true)
        }
    }
}
