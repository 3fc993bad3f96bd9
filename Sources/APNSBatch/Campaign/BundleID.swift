import APNSBatchNotification

/// The name of an app.
enum BundleID {
    /// It becomes part of a path, so nothing else may stand in it.
    static func check(_ bundleID: String) throws(CampaignError) {
        guard let fault = Array(bundleID.utf8).withUnsafeBytes({ Topic.check($0) }) else { return }
        let message = Array(bundleID.utf8).withUnsafeBytes { fault.message(for: $0) }
        throw CampaignError(.configuration, "bundle id" + message.dropFirst(fault.column.count))
    }
}
