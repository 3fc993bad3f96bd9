import APNSBatchMetrics
import Testing

@Suite struct MetricTextTests {
    private let families = [
        MetricFamily("a_rows", .counter, "Rows.").adding([.init("outcome", "accepted")], 3),
        MetricFamily("a_age_seconds", .gauge, unit: "seconds", "Age.").adding([], 1.5),
        MetricFamily("a_build", .info, "Version.").adding([.init("version", "1")], 1),
        MetricFamily("a_state", .stateSet, "State.").adding(states: ["idle", "busy"], current: "busy", []),
        MetricFamily("a_time_seconds", .histogram, unit: "seconds", "Time.")
            .adding([], bounds: [0.5, 1], counts: [1, 1, 4], sum: 12.25),
    ]

    @Test func `the Prometheus text format names a counter with its suffix, and has no units`() {
        #expect(
            MetricText.prometheus.text(of: families) == """
                # HELP a_rows_total Rows.
                # TYPE a_rows_total counter
                a_rows_total{outcome="accepted"} 3
                # HELP a_age_seconds Age.
                # TYPE a_age_seconds gauge
                a_age_seconds 1.5
                # HELP a_build_info Version.
                # TYPE a_build_info gauge
                a_build_info{version="1"} 1
                # HELP a_state State.
                # TYPE a_state gauge
                a_state{a_state="idle"} 0
                a_state{a_state="busy"} 1
                # HELP a_time_seconds Time.
                # TYPE a_time_seconds histogram
                a_time_seconds_bucket{le="0.5"} 1
                a_time_seconds_bucket{le="1.0"} 1
                a_time_seconds_bucket{le="+Inf"} 4
                a_time_seconds_sum 12.25
                a_time_seconds_count 4

                """)
    }

    @Test func `OpenMetrics has its own names, types, units and end`() {
        let lines = MetricText.openMetrics.text(of: families).split(separator: "\n")
        for line in [
            "# TYPE a_rows counter", "a_rows_total{outcome=\"accepted\"} 3", "# UNIT a_age_seconds seconds",
            "# TYPE a_build info", "a_build_info{version=\"1\"} 1", "# TYPE a_state stateset",
        ] {
            #expect(lines.contains(Substring(line)), "\(line)")
        }
        #expect(lines.last == "# EOF")
    }

    @Test func `no value of a label can end it`() {
        let hostile = MetricFamily("a", .gauge, "A\\b\nc.").adding([.init("x", "\" 1\n# EOF\r\n\\")], 1)
        for text in MetricText.allCases.map({ $0.text(of: [hostile]) }) {
            #expect(
                text.hasPrefix("# HELP a A\\\\b\\nc.\n# TYPE a gauge\na{x=\"\\\" 1\\n# EOF\\\\r\\n\\\\\"} 1\n"),
                "\(text)")
        }
    }

    @Test(arguments: [
        (1e300, "1e+300"), (0.1, "0.1"), (4_000_000_000, "4000000000"), (.infinity, "+Inf"), (-.infinity, "-Inf"),
        (.nan, "NaN"), (-2, "-2"), (1e-7, "1e-07"),
    ])
    func `numbers are written as both formats read them`(number: Double, text: String) {
        let family = MetricFamily("a", .gauge, "A.").adding([], number)
        #expect(MetricText.prometheus.text(of: [family]).hasSuffix("\na \(text)\n"))
    }

    @Test(arguments: [
        (nil, MetricText.prometheus), ("*/*", .prometheus), ("text/plain", .prometheus),
        ("application/openmetrics-text; version=1.0.0", .openMetrics),
        ("Application/OpenMetrics-Text;version=\"1.0.0\", text/plain;q=0.5", .openMetrics),
        (
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .openMetrics
        ),
        ("application/openmetrics-text;version=0.0.1", .prometheus),
        ("application/openmetrics-text;q=0", .prometheus),
        ("application/openmetrics-text;q=0.3,text/plain;q=0.5", .prometheus),
        ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily", .prometheus),
        (";;,,=", .prometheus),
    ])
    func `the client selects the format`(accept: String?, format: MetricText) {
        #expect(MetricText(accept: accept) == format)
    }
}
