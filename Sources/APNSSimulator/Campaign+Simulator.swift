import APNSBatchModel

extension Campaign {
    /// Sends the campaign to a simulator in place of its destination: directly, with the simulator's credentials for each provider,
    /// and trusting only the simulator's certificate.
    public mutating func redirect(to simulator: Simulator) {
        destination = simulator.destination
        for index in providers.indices { providers[index].credentials = simulator.credentials }
        (authorities, systemTrust) = (simulator.authorities, false)
        proxy = nil
    }
}
