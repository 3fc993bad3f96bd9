import APNSBatchModel

extension CampaignProgress {
    /// The progress that a point shows, as far as a timeline has it.
    public init(_ point: TimelinePoint) {
        self.init()
        totals = point.totals
        (rowsTotal, bytesRead, requests) = (point.rowsTotal, point.bytesRead, point.requests)
        elapsedSeconds = Double(point.elapsedMilliseconds) / 1000
        (connections, streams, inFlight) = (Int(point.connections), Int(point.streams), Int(point.inFlight))
        (retrying, connectionsOpened) = (Int(point.retrying), Int(point.connectionsOpened))
        (isPaused, isCanary) = (point.isPaused, point.isCanary)
        (rateLimit, heldBackBy) = (point.rateLimit, point.heldBackBy)
        if isPaused { waiting = .paused }
    }
}
