import APNSBatchBasics
import Foundation
import Testing

@testable import APNSBatchWebhooks

@Suite struct OutboxTests {
    /// A run directory that is removed with this object.
    private final class Stage {
        let directory = FileManager.default.temporaryDirectory.appending(path: "apns-batch-outbox-\(UUID().uuidString)")
        let outbox: Outbox

        init() throws {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            outbox = Outbox(ofRunIn: directory.path)
        }

        deinit { try? FileManager.default.removeItem(at: directory) }

        var names: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: outbox.directory)) ?? []).sorted()
        }

        func mode(_ path: String) throws -> Int {
            try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        }
    }

    private func entry(_ kind: WebhookEvent.Kind = .completed, at time: Int64 = 1000) throws -> OutboxEntry {
        let facts = WebhookEvent.Facts(campaign: "nightly", host: "push-1", version: "1.0.0")
        return try OutboxEntry(
            WebhookEvent(kind, at: time, facts), urlFile: "/etc/url", secretFile: "/etc/secret", timeout: 20)
    }

    @Test func `an entry is found again, in a directory and a file that only the owner reads`() throws {
        let stage = try Stage()
        #expect(try stage.outbox.items.isEmpty && stage.outbox.count == 0 && stage.outbox.lock() == nil)
        let entries = [try entry(.started), try entry(), try entry(.failed)]
        for entry in entries { try stage.outbox.add(entry) }
        #expect(stage.outbox.items.map(\.entry) == entries && stage.outbox.count == 3)
        #expect(Set(entries.map(\.id)).count == 3)
        #expect(try stage.mode(stage.outbox.directory) == 0o700)
        for name in stage.names { #expect(try stage.mode("\(stage.outbox.directory)/\(name)") == 0o600) }
    }

    @Test(arguments: ["attempts", "time", "timeout", "notBefore"])
    func `a file whose numbers cannot be true ends no process`(key: String) throws {
        let content = String(decoding: try entry().file, as: UTF8.self)
        for number in [Int64.min, -1, 0, Int64.max - 1, Int64.max] {
            let changed = content.replacing(try Regex("\"\(key)\":[0-9]+"), with: "\"\(key)\":\(number)")
            #expect(changed != content || number == 0)
            guard var entry = OutboxEntry(file: Array(changed.utf8)) else { continue }
            _ = (entry.isAllowed(now: 1000), entry.isOutdated(now: 1000))
            #expect(
                entry.note(.status(503, retryAfter: .max), now: 1000) == .waits
                    && entry.note(.none, now: 1000) == .waits)
        }
    }

    @Test func `what is delivered is removed, and the directory with the last of it`() throws {
        let stage = try Stage()
        try stage.outbox.add(entry())
        try stage.outbox.add(entry(.failed))
        let lock = try #require(try stage.outbox.lock())
        stage.outbox.remove(stage.outbox.items[0], lock)
        stage.outbox.removeIfEmpty(lock)
        #expect(stage.outbox.items.map(\.entry.event) == ["failed"])
        stage.outbox.remove(stage.outbox.items[0], lock)
        stage.outbox.removeIfEmpty(lock)
        #expect(!stage.outbox.exists)
    }

    @Test func `one process at a time has the lock, also of a directory that was made again`() throws {
        let stage = try Stage()
        try stage.outbox.add(entry())
        var lock = try #require(try stage.outbox.lock())
        #expect(try stage.outbox.lock() == nil)
        stage.outbox.remove(stage.outbox.items[0], lock)
        stage.outbox.removeIfEmpty(lock)
        try stage.outbox.add(entry())
        lock = try #require(try stage.outbox.lock())
        #expect(try stage.outbox.lock() == nil)
    }

    @Test func `an outbox that others can write into is not read`() throws {
        let stage = try Stage()
        try stage.outbox.add(entry())
        chmod(stage.outbox.directory, 0o770)
        #expect(try !stage.outbox.isOwn && stage.outbox.items.isEmpty && stage.outbox.lock() == nil)
        #expect(throws: (any Error).self) { try stage.outbox.add(entry()) }
    }

    /// Whoever waits for such a lock waits in vain.
    @Test("A lock that is not a file is an error, and not held by another process")
    func unusableLock() throws {
        let stage = try Stage()
        try stage.outbox.add(entry())
        #expect(mkfifo(stage.outbox.directory + "/lock", 0o600) == 0)
        #expect(throws: StorageError.self) { try stage.outbox.lock() }
    }

    @Test func `files that are no events are left alone`() throws {
        let stage = try Stage()
        try stage.outbox.add(entry())
        for (name, text) in [
            ("notes.txt", "notes"), ("1-000000-msg_x.json", "{"), ("2-000000-msg_y.json", "{\"format\":2}"),
        ] {
            try text.write(toFile: "\(stage.outbox.directory)/\(name)", atomically: false, encoding: .utf8)
        }
        #expect(stage.outbox.items.count == 1)
        let lock = try #require(try stage.outbox.lock())
        stage.outbox.remove(try #require(stage.outbox.items.first), lock)
        stage.outbox.removeIfEmpty(lock)
        #expect(stage.names.count == 4)
    }

    @Test func `a run is open from its beginning until its end is in the outbox`() throws {
        let stage = try Stage()
        #expect(!stage.outbox.hasOpenRun)
        try stage.outbox.beginRun()
        stage.outbox.removeIfEmpty()
        #expect(stage.outbox.hasOpenRun && stage.outbox.count == 0)
        try stage.outbox.beginRun()
        try stage.outbox.add(entry())
        stage.outbox.endRun()
        stage.outbox.removeIfEmpty()
        #expect(!stage.outbox.hasOpenRun && stage.outbox.count == 1)
    }

    @Test func `an endpoint that is gone is so for the run directory`() throws {
        let stage = try Stage()
        try stage.outbox.add(entry())
        #expect(!stage.outbox.isGone("/etc/url"))
        let mark = try stage.outbox.noteGone("/etc/url")
        #expect(stage.outbox.isGone("/etc/url") && !stage.outbox.isGone("/etc/other"))
        #expect(stage.outbox.count == 1)
        #expect(try stage.mode(mark) == 0o600)
    }

    @Test func `a failed attempt keeps the id, and is kept itself`() throws {
        let stage = try Stage()
        try stage.outbox.add(entry())
        let lock = try #require(try stage.outbox.lock())
        var item = stage.outbox.items[0]
        let id = item.entry.id
        #expect(item.entry.note(.status(429, retryAfter: 30), now: 2000) == .waits)
        try stage.outbox.replace(item, lock)
        let read = try #require(stage.outbox.items.first?.entry)
        #expect(read == item.entry && read.id == id && read.attempts == 1 && read.notBefore == 2030)
    }

    // MARK: Attempts

    @Test func `only 2xx is a delivery, and 410 the end of the endpoint`() throws {
        let fates: [(Int, OutboxEntry.Fate)] = [
            (200, .delivered), (204, .delivered), (299, .delivered), (199, .waits), (301, .waits), (302, .waits),
            (307, .waits), (400, .waits), (404, .waits), (409, .waits), (410, .endpointGone), (411, .waits),
            (429, .waits), (500, .waits), (503, .waits),
        ]
        for (status, fate) in fates {
            var entry = try entry()
            #expect(entry.note(.status(status, retryAfter: nil), now: 0) == fate, "\(status)")
            #expect(entry.attempts == (fate == .waits ? 1 : 0))
        }
        var unanswered = try entry()
        #expect(unanswered.note(.none, now: 0) == .waits && unanswered.isAllowed(now: 0))
    }

    @Test func `an endpoint with too much to do is left alone, for an hour at most`() throws {
        let waits: [(Int, Int64?, Int64)] = [
            (429, nil, 60), (502, nil, 60), (504, nil, 60), (500, nil, 0), (404, nil, 0), (429, 5, 5), (503, 7, 7),
            (500, 9, 9), (429, 86_400, 3600), (429, -5, 0),
        ]
        for (status, retryAfter, wait) in waits {
            var entry = try entry()
            #expect(entry.note(.status(status, retryAfter: retryAfter), now: 5000) == .waits)
            #expect(entry.isAllowed(now: 5000 + wait), "\(status) \(wait)")
            if wait > 0 { #expect(!entry.isAllowed(now: 4999 + wait), "\(status) \(wait)") }
        }
    }

    @Test func `attempts follow at once, after 5 seconds, 5 minutes and longer`() throws {
        var entry = try entry()
        var schedule = DeliverySchedule()
        // Only what an endpoint asks for goes by the time of day, which another process may have to know.
        let wallClock: Int64 = 1_800_000_000
        func isDue(_ now: Int64, _ entry: OutboxEntry) -> Bool {
            schedule.isDue(entry, now: now, wallClock: wallClock + now)
        }
        #expect(isDue(0, entry))
        var now: Int64 = 10_000
        for pause: Int64 in [5, 300, 1800, 7200, 7200] {
            schedule.noteFailure(of: entry.urlFile, now: now)
            #expect(!isDue(now + pause - 1, entry) && isDue(now + pause, entry))
            for jump: Int64 in [3600, -3600] {
                #expect(!schedule.isDue(entry, now: now + pause - 1, wallClock: wallClock + jump))
                #expect(schedule.isDue(entry, now: now + pause, wallClock: wallClock + jump))
            }
            now += pause
        }
        schedule.noteFailure(of: "/etc/other", now: now)
        schedule.noteSuccess(of: entry.urlFile)
        #expect(isDue(now, entry))
        _ = entry.note(.status(429, retryAfter: 3000), now: wallClock + now)
        #expect(!isDue(now + 2999, entry) && isDue(now + 3000, entry))
        // The clock was set back meanwhile.
        #expect(schedule.isDue(entry, now: now, wallClock: wallClock + now - 3600))
    }

    @Test func `an entry is given up after three days`() throws {
        let entry = try entry(at: 1000)
        #expect(!entry.isOutdated(now: 1000 + 3 * 86_400) && entry.isOutdated(now: 1001 + 3 * 86_400))
    }
}
