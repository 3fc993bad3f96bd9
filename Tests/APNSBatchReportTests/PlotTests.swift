import Foundation
import Testing

@testable import APNSBatchReport

@Suite("Plots") struct PlotTests {
    @Test(
        "Steps are 1, 2 or 5 times a power of ten",
        arguments: [
            (0.003, 0.005), (0.11, 0.2), (1, 1), (1.2, 2), (2.1, 5), (5.1, 10), (70, 100), (1e6, 1e6), (3e6, 5e6),
        ])
    func niceSteps(step: Double, nice: Double) { #expect(abs(PlotScale.niceStep(step) / nice - 1) < 1e-9) }

    @Test(
        "A linear scale holds every value, and has a few round ticks",
        arguments: [0.02, 0.7, 1, 3, 9.99, 42, 100, 6_013, 1e9])
    func linear(most: Double) {
        let scale = PlotScale.linear(holding: [0, most / 2, most])
        guard case .linear(let top) = scale else { return }
        #expect(top >= most * (1 - 1e-9) && top <= 2 * most)
        #expect(3...7 ~= scale.ticks.count && scale.ticks[0] == 0, "\(scale.ticks)")
        #expect(scale.height(of: 0) == 0 && scale.height(of: top) == 1 && scale.height(of: 9 * top) == 1)
        #expect(abs(scale.height(of: top / 4) - 0.25) < 1e-9)
    }

    @Test("A limit that is far away does not flatten the figures: it is named, and not drawn")
    func farLimit() throws {
        var points = SampleNights.points(seconds: 100)
        for index in points.indices {
            points[index].rateLimit = index < 50 ? 300 : 100_000
            (points[index].streams, points[index].inFlight) = (4_000, 60)
        }
        let report = SampleNights.report(try SampleNights.summary(), points)
        let plots = try #require(RunPlots(report)).all
        for (title, name, most) in [
            ("Throughput", "rate limit (up to 100,000, beyond the plot)", 500.0),
            ("Streams", "allowed (up to 4,000, beyond the plot)", 100),
        ] {
            let plot = try #require(plots.first { $0.title == title })
            let limit = try #require(plot.layers.first { $0.shape == .dashed })
            #expect(limit.name == name && limit.color == .limit)
            guard case .linear(let top) = plot.scale else { continue }
            #expect(top <= most && limit.values.allSatisfy { ($0 ?? 0) <= top }, "\(title): \(top)")
        }
        let throughput = try #require(plots.first { $0.title == "Throughput" }?.layers.last)
        #expect(throughput.values.prefix(45).contains(300), "a limit within the plot is drawn")
        let page = ComparisonPage.html(RunComparison([report, try SampleNights.sixHours()]))
        #expect(!page.contains(">100,000</text>"))
    }

    @Test("A limit that is a little above the figures is drawn")
    func nearLimit() {
        #expect(PlotScale.linear(holding: [10, 4_000], andOf: [4_002, 100_000]).holds(4_002))
        #expect(!PlotScale.linear(holding: [10, 4_000], andOf: [4_002, 100_000]).holds(100_000))
        #expect(PlotScale.linear(holding: [], andOf: [5]) == PlotScale.linear(holding: []))
    }

    @Test("Every colour can be seen on its paper", arguments: PlotColor.allCases)
    func contrast(color: PlotColor) throws {
        #expect(try Self.contrast(color.shades.light, "#ffffff") >= 3)
        #expect(try Self.contrast(color.shades.dark, "#0d1117") >= 3)
    }

    @Test("No two meanings have the same colour, on either paper")
    func distinct() {
        #expect(Set(PlotColor.allCases.map(\.shades.light)).count == PlotColor.allCases.count)
        #expect(Set(PlotColor.allCases.map(\.shades.dark)).count == PlotColor.allCases.count)
    }

    /// The contrast of two colours (WCAG 2.2).
    private static func contrast(_ one: String, _ other: String) throws -> Double {
        func luminance(_ color: String) throws -> Double {
            let number = try #require(Int(color.dropFirst(), radix: 16))
            let parts = [16, 8, 0].map { (shift: Int) -> Double in
                let part = Double(number >> shift & 255) / 255
                return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        }
        let both = [try luminance(one), try luminance(other)].sorted()
        return (both[1] + 0.05) / (both[0] + 0.05)
    }

    @Test("A scale without values, or only with zeros, can be drawn")
    func empty() {
        for scale in [
            PlotScale.linear(holding: []), .linear(holding: [0, 0]), .decades(holding: []), .decades(holding: [0]),
        ] {
            #expect(scale.ticks.count > 1 && scale.ticks.allSatisfy { scale.height(of: $0).isFinite })
        }
    }

    @Test("A logarithmic scale goes from power of ten to power of ten")
    func logarithmic() {
        let scale = PlotScale.decades(holding: [0, 0.4, 30])
        #expect(scale == .decades(from: -1, to: 2) && scale.ticks == [0.1, 1, 10, 100])
        #expect(scale.height(of: 0.1) < 1e-9 && scale.height(of: 100) > 1 - 1e-9 && scale.height(of: 0) == 0)
        #expect(abs(scale.height(of: 1) - 1 / 3.0) < 1e-9)
        #expect(PlotScale.decades(holding: [10, 10]) == .decades(from: 1, to: 2))
    }

    private static let berlin = LocalTime(zone: "Europe/Berlin", interval: 0...1) { _ in 3600 }
    private static let kathmandu = LocalTime(zone: "Asia/Kathmandu", interval: 0...1) { _ in 20_700 }

    @Test("Ticks are round times of the campaign's zone")
    func timeTicks() {
        // 01:00 UTC, and six hours.
        let hours = TimeTicks.ticks(from: 3_600_000, seconds: 21_600, in: Self.berlin)
        #expect(hours.map(\.label) == ["02:00", "03:00", "04:00", "05:00", "06:00", "07:00", "08:00"])
        #expect(
            hours.first?.position == 0 && hours.last?.position == 1 && hours.map(\.isMinor).prefix(2) == [false, true])
        let nepal = TimeTicks.ticks(from: 0, seconds: 10_800, in: Self.kathmandu)
        #expect(nepal.first == PlotTick(position: 900 / 10_800.0, label: "06:00"))
        let seconds = TimeTicks.ticks(from: 500, seconds: 20, in: Self.berlin)
        #expect(seconds.first?.label == "01:00:05" && seconds.first?.position == 0.225 && seconds.count == 4)
        #expect(2...10 ~= TimeTicks.ticks(from: 0, seconds: 40 * 86_400, in: Self.berlin).count)
    }

    @Test("Local time follows a change of the clock, which is found to the second")
    func clockChange() {
        let change: Int64 = 1_792_890_000
        let time = LocalTime(zone: "Europe/Berlin", interval: change - 5_000...change + 9_000) {
            $0 < change ? 7200 : 3600
        }
        #expect(time.offsets.map(\.fromUnixSeconds) == [change - 5_000, change])
        #expect(time.clock(change - 1) == "02:59:59" && time.clock(change) == "02:00:00")
    }

    @Test("A line has gaps where there is no value, and a single value is as wide as its interval")
    func line() {
        let path = PlotPath(scale: .linear(top: 10), count: 10)
        #expect(path.line([0, 10, nil, 5, nil, 1, 1, 1, 1, 1]).hasPrefix("M50 180L150 0M300 90H400M550 162L650 162"))
        #expect(path.line([nil, nil]) == "" && path.bars([nil, 0]) == "")
    }

    @Test(
        "Coordinates have at most one digit after the point",
        arguments: [
            (0, "0"), (-0.25, "-0.3"), (-3, "-3"), (12.04, "12"), (12.06, "12.1"), (999.96, "1000"),
        ])
    func coordinates(value: Double, text: String) { #expect(PlotPath.coordinate(value) == text) }
}
