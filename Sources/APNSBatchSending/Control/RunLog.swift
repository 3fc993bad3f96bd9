import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import Glibc
import Logging

/// The log messages of a run. They never contain tokens, keys or payloads, and are printable whatever a server sends.
///
/// What goes well is logged as info or debug. A warning is for what keeps a run from sending, or threatens to, and for its end.
package struct RunLog: Sendable {
    /// Receives an event and what it is about. It must not block.
    package typealias Listener = @Sendable (_ event: String, _ detail: String) -> Void

    package let logger: Logger
    let endpoint: String
    private let notices = Guarded(WaitingNotices())
    /// The last fatal answer that was logged.
    private let fatal = Guarded("")
    private let listener = Guarded<Listener?>(nil)
    /// The rules for which a warning about a row was logged.
    private let rulesOfRows = Guarded(Set<Rule>())
    private let repeated = Guarded(RepeatedNotices())

    /// - Parameter logger: Its metadata is kept. What its metadata provider has for the current task is added, because the lanes
    ///   are not in that task.
    init(logger: Logger, endpoint: String) {
        self.logger = logger.withMetadataOfTask.printable
        self.endpoint = endpoint
    }

    /// Sets the receiver of rare events: outages, and waiting.
    package func tell(_ listener: Listener?) { self.listener.withLock { $0 = listener } }

    func note(_ event: String, _ detail: String) { listener.withLock { $0 }?(event, detail) }

    /// What a message is about: the keys `apns.endpoint`, `apns.provider`, `apns.connection` and `apns.reason`.
    ///
    /// - Parameters:
    ///   - provider: The name of the team or of the certificate; empty without credentials.
    ///   - connection: The number of the connection in its lane.
    func about(_ provider: String = "", connection: UInt64? = nil, reason: String? = nil) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["apns.endpoint": "\(endpoint)"]
        if !provider.isEmpty { metadata["apns.provider"] = "\(provider)" }
        if let connection { metadata["apns.connection"] = "\(connection)" }
        if let reason { metadata["apns.reason"] = "\(reason)" }
        return metadata
    }

    func ioUringRefused(_ error: Int32) {
        logger.info(unsafe "io_uring is not available (\(String(cString: strerror(error)))): using epoll")
    }

    /// Logs why the run waits, unless that was logged already.
    func waiting(_ reason: CampaignProgress.Waiting, now: UInt64) {
        guard notices.withLock({ $0.note(reason, now: now) }) else { return }
        logger.warning("\(reason)", metadata: about())
        note("waiting", "\(reason)")
    }

    /// Logs an answer that every notification of a provider gets, unless the last one was the same.
    func fatalAnswer(_ text: String, _ reason: String, of provider: String) {
        let isNew = fatal.withLock { last in
            defer { last = text }
            return last != text
        }
        if isNew { logger.error("\(text)", metadata: about(provider, reason: reason)) }
    }

    /// Whether a message with this key was not logged as a warning in the last ten minutes; from now on it was.
    func isNew(_ key: String, now: UInt64) -> Bool { repeated.withLock { $0.note(key, now: now) } }

    /// Logs a warning about one of the first rows, once for each rule. The text of the row is not shown.
    func suspectRow(_ finding: RowFinding) {
        guard rulesOfRows.withLock({ $0.insert(finding.rule).inserted }) else { return }
        let message = "\(finding.place): \(finding.rule.rawValue): expected that \(finding.rule.about)"
        logger.warning("\(message); the row is sent; apns-batch check names all such rows", metadata: about())
    }

    func retriesFull(_ rows: Int) {
        logger.warning(
            "\(rows) rows of a lane wait to be sent to \(endpoint) again: the lane takes no new rows until some are done",
            metadata: about())
    }

    func canaryPassed(rows: UInt64) {
        logger.info("canary passed: the first \(rows) rows")
    }

    func minted(_ issuer: ProviderToken.Issuer) {
        logger.info(
            "new provider token for \(endpoint): team \(issuer.teamID), key \(issuer.keyID)",
            metadata: about("team \(issuer.teamID)"))
    }
}

extension Logger {
    /// The logger with what its metadata provider has for the current task among its own metadata.
    package var withMetadataOfTask: Logger {
        guard let provided = metadataProvider?.get(), !provided.isEmpty else { return self }
        var logger = self
        for (key, value) in provided where logger[metadataKey: key] == nil { logger[metadataKey: key] = value }
        return logger
    }
}
