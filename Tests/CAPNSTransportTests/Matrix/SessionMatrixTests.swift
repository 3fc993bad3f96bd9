import APNSBatchTestSupport
import CAPNSHTTP2
import Testing

/// Every violation at every place, split at every byte, for a session in memory.
@Suite("Violations of HTTP/2, for a session", .ownThread, .serialized)
struct SessionMatrixTests {
    @Test("Every violation at every place, split at every byte", arguments: HostileServer.Place.allCases)
    func everySplit(place: HostileServer.Place) {
        var cases = 0
        for violation in Violation.all {
            for split in HostileServer.Split.all(of: violation.count) {
                cases += 1
                var run = SessionRun(violation, place, split)
                let findings = run.findings()
                for finding in findings {
                    Issue.record("\(violation.name), \(place), \(split.testDescription): \(finding)")
                }
                if !findings.isEmpty { break }
            }
        }
        #expect(cases > 3000, "\(cases) cases")
    }

    @Test("Every call behind every violation", arguments: HostileServer.Place.allCases)
    func everyEntry(place: HostileServer.Place) {
        for violation in Violation.all {
            for entry in SessionClient.Entry.allCases {
                for split in HostileServer.Split.few(of: violation.count).prefix(2) {
                    var run = SessionRun(violation, place, split, entry: entry)
                    let findings = run.findings()
                    for finding in findings {
                        Issue.record("\(violation.name), \(place), \(split.testDescription), \(entry): \(finding)")
                    }
                }
            }
        }
    }
}

/// A conversation between a hostile server and a client in memory.
struct SessionRun {
    private let violation: Violation
    private let place: HostileServer.Place
    private let entry: SessionClient.Entry?
    private let client = SessionClient()
    private var server: HostileServer

    init(
        _ violation: Violation, _ place: HostileServer.Place, _ split: HostileServer.Split,
        entry: SessionClient.Entry? = nil
    ) {
        (self.violation, self.place, self.entry) = (violation, place, entry)
        server = HostileServer(violation, place, split)
    }

    mutating func findings() -> [String] {
        play()
        let isAsUsual = entry == nil || entry == .submit || entry == .pump
        let judgement = isAsUsual ? judge() : []
        client.useFailed()
        return client.findings + judgement
    }

    /// Passes on what both send until both are silent.
    private mutating func play() {
        var pieces = server.greet()[...]
        var entries = 0
        client.pump()
        for _ in 0..<10_000 {
            for frame in client.take() { pieces += server.take(frame) }
            guard let piece = pieces.popFirst(), !client.hasFailed else { break }
            let wasDone = server.isDone
            client.receive(piece)
            // Each call may make the server send something, so it is made a few times only.
            if let entry, wasDone, entries < 4 {
                client.enter(entry)
                entries += 1
            }
            act()
            client.pump()
        }
    }

    /// Begins requests as far as the place needs them, and two more after the violation.
    private func act() {
        let most = place.width + 2
        let mayBegin =
            client.isUp && !client.hasGoaway && (place != .behindSettings || server.isDone)
            && (place != .whileDraining || client.requests.count < place.width)
        while mayBegin, client.requests.count < most, client.openCount < place.width, !client.hasFailed {
            client.submit()
        }
    }

    private func judge() -> [String] {
        var findings: [String] = []
        func expect(_ holds: Bool, _ text: String) {
            if !holds { findings.append(text) }
        }
        expect(server.isDone, "the place was not reached")
        let failure = client.failure
        let isPeers = [APNS_H2_FAILURE_PROTOCOL.rawValue, APNS_H2_FAILURE_LIMIT.rawValue].contains(
            UInt32(failure.scope))
        expect(!client.hasFailed || isPeers, "the session failed by itself: \(failure.message)")
        let demand = violation.demand(at: place)
        switch demand {
        case .connectionError: expect(client.hasFailed, "the session goes on")
        case .streamError, .ignored: expect(!client.hasFailed, "the session failed: \(failure.message)")
        case .free: break
        }
        for (index, request) in client.requests.enumerated() where demand == .streamError || demand == .ignored {
            let isTarget = UInt32(2 * index + 1) == server.target && violation.effect == .spoils
            expect(request.isEnded, "request \(index) has no end")
            // GOAWAY excludes what was begun before it arrived.
            let isExcluded = place == .behindGoaway && index >= place.width
            let isOwed = !isTarget && !isExcluded
            expect(request.isAnswered == isOwed, "request \(index) is \(request.isAnswered ? "" : "not ")answered")
            let isReset = client.frames.contains { $0.type == Frame.reset && $0.stream == UInt32(2 * index + 1) }
            // Behind GOAWAY the last stream takes the connection with it.
            if isTarget && !place.hasGoaway { expect(isReset, "request \(index) was not reset") }
        }
        // What was answered before keeps its answer.
        if place == .behindLastAnswer || place == .betweenAnswers || place == .whileDraining
            || place == .behindLastGoaway
        {
            let first = client.requests.first
            expect(first?.isAnswered == true && first?.status == 200, "the first answer is lost")
        }
        return findings
    }
}
