import APNSBatch
import ArgumentParser
import Hummingbird
import Logging
import ProviderOptions
import ServiceLifecycle

@main struct PushServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push-server", abstract: "Sends push notifications for its callers, through APNs.")

    @OptionGroup var provider: ProviderOptions

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 lets the system choose one, which is logged.")
    var port = 8080

    func run() async throws {
        // Before the key is read, because a core file would have it.
        ProcessSecrecy.forbidCoreDumps()
        let logger = Logger(label: "push-server")
        let sender = try Sender(senderConfiguration(), logger: logger)
        let notifier = Notifier(sender: sender, devices: DeviceStore(), topic: provider.topic)
        let server = Application(
            router: Routes(notifier: notifier).router(),
            configuration: .init(address: .hostname(host, port: port)), logger: logger)
        try await ServiceGroup(configuration: Self.services(sender, server, logger)).run()
    }

    private func senderConfiguration() throws -> Sender.Configuration {
        var configuration = Sender.Configuration(destination: provider.to, credentials: try provider.credentials())
        configuration.authorities = try provider.authorities()
        // What is pending when the server has ended belongs to no request any more.
        configuration.gracePeriod = .seconds(2)
        return configuration
    }

    /// The services in the order in which they start. They shut down in the reverse order: the server answers the requests that it
    /// has accepted, for which it needs the sender, and only then the sender ends.
    private static func services(
        _ sender: Sender, _ server: some ApplicationProtocol, _ logger: Logger
    ) -> ServiceGroupConfiguration {
        var group = ServiceGroupConfiguration(
            services: [.init(service: sender, serviceName: "sender"), .init(service: server, serviceName: "server")],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // Together they are shorter than the 30 seconds that Kubernetes grants, and longer than what a request may take.
        group.maximumGracefulShutdownDuration = .seconds(20)
        group.maximumCancellationDuration = .seconds(5)
        return group
    }
}
