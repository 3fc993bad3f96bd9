import APNSBatchNotification
import APNSBatchTransport
import Logging

/// Messages about the connections of a lane.
extension RunLog {
    func connected(_ event: EventRecord, _ access: ProviderAccess) {
        logger.info(
            unsafe "connected to \(endpoint)\(access.forName): \(event.detailText), \(event.streams_max) streams",
            metadata: unsafe about(access.name, connection: event.connection))
    }

    func goaway(_ event: EventRecord, _ debug: GoAwayDebug, _ access: ProviderAccess) {
        let reason =
            switch debug {
            case .empty: nil as String?
            case .reason(let reason): reason.description
            case .text(let text): text
            }
        // A server may limit the requests of a connection: NO_ERROR without a text needs no warning.
        let level: Logger.Level = if case .empty = debug, unsafe event.code == 0 { .info } else { .warning }
        logger.log(
            level: level,
            unsafe "GOAWAY from \(endpoint)\(access.forName): code \(event.code), last stream \(event.last_stream): \(reason ?? "no reason given")",
            metadata: unsafe about(access.name, connection: event.connection, reason: reason))
    }

    func settings(_ event: EventRecord, _ access: ProviderAccess) {
        logger.info(
            unsafe "\(endpoint)\(access.forName) now allows \(event.streams_max) streams",
            metadata: unsafe about(access.name, connection: event.connection))
    }

    func silent(_ connection: UInt64, _ access: ProviderAccess) {
        logger.warning(
            "closing a connection to \(endpoint)\(access.forName) that does not answer",
            metadata: about(access.name, connection: connection))
    }

    /// Logs that a connection is replaced because of its answers. Each message is a warning once in ten minutes.
    func replaced(
        _ connection: UInt64, _ sickness: ConnectionPool.Sickness, _ trouble: Answer?, _ access: ProviderAccess,
        now: UInt64
    ) {
        let what =
            switch sickness {
            case .refusing: "that answers \(trouble?.text ?? "429 or 5xx") to nearly all requests"
            case .slow(let factor): "that takes \(Int(factor)) times as long as another one for its answers"
            }
        let remedy = trouble?.reason == .known(.tooManyProviderTokenUpdates) ? trouble?.remedy : nil
        let text =
            "replacing a connection to \(endpoint)\(access.forName) \(what)\(remedy.map { "; \($0)" } ?? "")"
        logger.log(
            level: isNew(trouble?.text ?? "slow", now: now) ? .warning : .info, "\(text)",
            metadata: about(access.name, connection: connection, reason: trouble?.text))
    }

    func disconnected(_ event: EventRecord, _ access: ProviderAccess) {
        logger.info(
            unsafe "connection to \(endpoint)\(access.forName) ended: \(event.detailText)",
            metadata: unsafe about(access.name, connection: event.connection, reason: event.detailText))
    }

    func failed(_ error: any Error, _ access: ProviderAccess) {
        logger.info(
            "no connection to \(endpoint)\(access.forName): \(error)",
            metadata: about(access.name, reason: "\(error)"))
    }

    func refused(_ cause: String, _ access: ProviderAccess) {
        logger.warning(
            "\(endpoint)\(access.forName): new credentials refused (\(cause)); the old ones stay in use",
            metadata: about(access.name, reason: cause))
    }

    func outage(_ trouble: Outage.Trouble, last: Answer?, _ limits: Outage.Limits, _ access: ProviderAccess) {
        let what = trouble.text(last: last)
        let (first, most) = (Outage.intervalFirst / 1_000_000_000, limits.interval / 1_000_000_000)
        let end = limits.patience < StopLimits.forever ? ", for up to \(limits.patience / 1_000_000_000) s" : ""
        logger.warning(
            """
            \(endpoint)\(access.forName) \(what): sending single probes, \(first) to \(most) s apart\(end)
            """, metadata: about(access.name, reason: what))
        note("outage", "\(endpoint)\(access.forName) \(what)")
    }

    func outageEnded(_ access: ProviderAccess) {
        // A warning, because it ends what a warning has announced.
        logger.warning(
            "\(endpoint)\(access.forName) answers again: sending continues", metadata: about(access.name))
        note("outage ended", "\(endpoint)\(access.forName)")
    }
}
