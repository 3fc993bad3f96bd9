import APNSBatchModel

/// What may be changed while a run goes on. The ledger has the changes of operators.
extension CampaignRun {
    /// Stops the run: no more rows are taken, answers are awaited for ``Campaign/stopPatience``, and ``send()`` returns. A
    /// resumed run sends the remaining rows.
    public func stop() { session.panel.stop() }

    /// Stops the run like ``stop()``, but awaits no answers: rows in flight get no outcome, as if the process had been
    /// killed. They may have arrived, and ``Campaign/onUnknown`` decides about them when the run is resumed.
    public func stopAtOnce() { session.panel.control.stopAtOnce() }

    /// Gives the run up: from now on nothing is sent. ``send()`` returns when every row has an outcome. Rows of earlier sessions that may
    /// have arrived end as ``Outcome/unknown``, independent of ``Campaign/onUnknown``, and rows that were never sent as
    /// ``Outcome/expired``, with the reason `Abandoned`. Called before ``send()``, no connection is opened.
    public func abandon() { session.panel.abandon() }

    /// Pauses the run: nothing is sent until ``unpause()``. Answers to requests in flight are processed, and connections
    /// stay open. A deadline (``Campaign/notAfter``) is not moved, and ``stop()`` works as usual.
    public func pause() { session.panel.pause() }

    /// Continues sending after ``pause()``, within some milliseconds.
    public func unpause() { session.panel.unpause() }

    /// Whether the run is paused by ``pause()``.
    public var isPaused: Bool { session.panel.control.paused }

    /// Replaces keys and certificates during the run. The providers must have the same topics, in the same order.
    ///
    /// All credentials are checked first; if some are invalid, nothing changes. Then every lane opens new connections with
    /// the new credentials, and closes the old ones when the new ones are usable and all requests in flight are answered, so
    /// that no row is lost or sent twice. A provider whose credentials have not changed keeps its connections. The call does
    /// not read files, and does not wait for connections.
    ///
    /// - Returns: The indices of the providers whose credentials changed.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration``.
    @discardableResult
    public func replaceCredentials(_ providers: [Campaign.Provider]) throws(CampaignError) -> [Int] {
        try session.facts.providers.replace(providers)
    }

    /// The limits of requests per time, as they were given.
    public var rateLimit: Campaign.RateLimit { session.panel.rate.limit }

    /// Replaces the limits of requests per time. They apply within some milliseconds.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` if a value is out of its range; then nothing
    ///   changes.
    public func setRateLimit(_ limit: Campaign.RateLimit) throws(CampaignError) {
        try session.panel.setRateLimit(limit)
    }

    /// Replaces ``Campaign/notAfter`` during the run. A duration counts from the start of the campaign. It applies within some
    /// milliseconds.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` if the time is 0; then nothing changes.
    public func setDeadline(_ notAfter: Campaign.Expiration?) throws(CampaignError) {
        try session.panel.setDeadline(notAfter)
    }

    /// Replaces ``Campaign/expectations`` during the run. They are judged when the run is complete; those about rows are not
    /// judged again before.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` if two contradict each other, or if one needs
    ///   a history and there is none; then nothing changes.
    public func setExpectations(_ expectations: [CampaignExpectation]) throws(CampaignError) {
        try session.panel.setExpectations(expectations)
    }

    /// What operators changed while the run went on, in all its sessions, in the order in which they did. The ledger has it,
    /// too.
    public var changes: [RunChange] { session.panel.journal.all }
}
