import APNSBatchTransport

/// The credentials of a lane by provider, each with its TLS configuration.
struct LaneCredentials: ~Copyable {
    private let directory: ProviderDirectory
    private let trust: TLSOptions
    /// The TLS configuration of providers without a client certificate.
    private let sharedTLS: Int32
    private var providers: Slab<ProviderCredentials>
    /// The generation of the directory when credentials were last taken from it.
    private var generation: Int

    init(_ directory: ProviderDirectory, trust: TLSOptions, _ transport: inout Transport) throws(TransportError) {
        let tls = try transport.makeTLS(trust)
        // The generation is read before the entries, so that a replacement in between is noticed later.
        let (generation, entries) = (directory.generation, directory.providers)
        var providers = Slab<ProviderCredentials>(capacity: entries.count)
        for access in entries {
            let own = access.certificate == nil ? tls : try transport.makeTLS(access.tls(trust))
            providers.append(ProviderCredentials((access, own)))
        }
        (self.directory, self.trust, sharedTLS, self.generation) = (directory, trust, tls, generation)
        self.providers = providers
    }

    func access(_ provider: Int) -> ProviderAccess { providers[provider].access }
    func tls(_ provider: Int) -> Int32 { providers[provider].tls }
    func previousGeneration(_ provider: Int) -> Int? { providers[provider].previousGeneration }

    /// Returns the credentials that were replaced in the directory since the last call.
    mutating func replaced() -> [(Int, ProviderAccess)] {
        guard directory.generation != generation else { return [] }
        generation = directory.generation
        return directory.providers.enumerated().filter { $1.generation != providers[$0].access.generation }
            .map { ($0, $1) }
    }

    /// - Parameter proven: As in ``ProviderCredentials/replace(by:proven:)``.
    mutating func replace(
        _ provider: Int, by access: ProviderAccess, proven: Int?, _ transport: inout Transport
    ) throws(TransportError) {
        let tls = access.certificate == nil ? sharedTLS : try transport.makeTLS(access.tls(trust))
        release(providers[provider].replace(by: (access, tls), proven: proven), &transport)
    }

    /// Makes the previous credentials current again, for all lanes. Returns the refused ones, or nil if there are no previous
    /// ones.
    mutating func goBack(_ provider: Int, _ transport: inout Transport) -> ProviderAccess? {
        guard let (refused, tls) = providers[provider].goBack() else { return nil }
        release(tls, &transport)
        directory.takeBack(provider, refused: refused.generation, to: access(provider))
        return refused
    }

    mutating func forgetPrevious(_ provider: Int, _ transport: inout Transport) {
        release(providers[provider].forgetPrevious(), &transport)
    }

    private func release(_ tls: Int32?, _ transport: inout Transport) {
        if let tls, tls != sharedTLS { transport.releaseTLS(tls) }
    }
}
