import APNSBatch

extension Campaign {
    /// The campaign that this program sends: a reminder of a reservation.
    ///
    /// - Parameters:
    ///   - name: Names its run directory, by which it is found again after a kill.
    ///   - runs: The directory with the run directories of all campaigns.
    static func nightly(
        _ name: String, to destination: Destination, topic: String, credentials: Credentials, runs: String
    ) -> Campaign {
        var campaign = Campaign(destination: destination, topic: topic, credentials: credentials)
        campaign.name = name
        campaign.runDirectory = "\(runs)/\(name)"
        campaign.template = .init(
            json: Array(#"{"aps":{"alert":{"title":"Hi {{first_name|there}}","body":"Your table is ready."}}}"#.utf8),
            name: "template")
        // A reminder of this night is worth nothing tomorrow.
        campaign.headers.expiration = .after(.seconds(12 * 3600))
        return campaign
    }
}
