// swift-tools-version: 6.3
import PackageDescription

// Every warning is an error, in both languages. These are settings, not unsafe flags, so the library stays usable as a
// dependency of another package.
let swift: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
let c: [CSetting] = [
    .enableWarning("all"), .enableWarning("extra"), .enableWarning("conversion"), .treatAllWarnings(as: .error),
    .define("APNS_CHECKS", .when(configuration: .debug)),
]

/// A C target of the core, in CSupport/. `inside`: targets whose internal headers it includes.
func core(_ name: String, _ dependencies: [Target.Dependency], inside: [String] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "CSupport/\(name)",
        cSettings: c + inside.map { .headerSearchPath("../\($0)") })
}

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: swift)
}

/// A module in which every unsafe use of memory is marked.
func strictModule(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: swift + [.strictMemorySafety()])
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: swift)
}

/// A product that is needed only with the trait of a name, which is that of the product unless another is given.
func product(_ name: String, _ package: String, of trait: String? = nil) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait ?? name]))
}

let package = Package(
    name: "apns-batch",
    products: [
        .library(name: "APNSBatch", targets: ["APNSBatch"]),
        .library(name: "APNSBatchPostgres", targets: ["APNSBatchPostgres"]),
        .library(name: "APNSSimulator", targets: ["APNSSimulator"]),
        .executable(name: "apns-batch", targets: ["apns-batch"]),
    ],
    traits: [
        .trait(
            name: "ServiceLifecycle",
            description: "CampaignRun and Sender are services of swift-service-lifecycle, which shut down in order."),
        .trait(name: "Metrics", description: "Runs and senders record metrics through swift-metrics."),
        .trait(name: "Tracing", description: "Runs and sends are spans of swift-distributed-tracing."),
        .trait(
            name: "Configuration",
            description: "Campaigns and configurations of senders are read through swift-configuration."),
        .default(enabledTraits: ["ServiceLifecycle", "Metrics"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        // Without traits, because those of its providers need Foundation.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    ],
    targets: [
        // Libraries of the system.
        .systemLibrary(
            name: "CAPNSURing", path: "CSupport/System/CAPNSURing", pkgConfig: "liburing",
            providers: [.apt(["liburing-dev"])]),
        .systemLibrary(
            name: "CAPNSNGHTTP2", path: "CSupport/System/CAPNSNGHTTP2", pkgConfig: "libnghttp2",
            providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(
            name: "CAPNSOpenSSL", path: "CSupport/System/CAPNSOpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CAPNSZlib", path: "CSupport/System/CAPNSZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CAPNSZstd", path: "CSupport/System/CAPNSZstd", pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"])]),
        // Only its header: CAPNSPostgres loads the library when it is first needed.
        .systemLibrary(
            name: "CAPNSLibPQ", path: "CSupport/System/CAPNSLibPQ", providers: [.apt(["libpq-dev"])]),

        // The C core: mechanism, no policy.
        core("CAPNSCommon", []),
        core("CAPNSReactor", ["CAPNSCommon", "CAPNSURing"]),
        core("CAPNSTLS", ["CAPNSCommon", "CAPNSOpenSSL"]),
        core("CAPNSHTTP2", ["CAPNSCommon", "CAPNSNGHTTP2"]),
        core("CAPNSTransport", ["CAPNSCommon", "CAPNSReactor", "CAPNSTLS", "CAPNSHTTP2"]),
        core("CAPNSCrypto", ["CAPNSCommon", "CAPNSOpenSSL"]),
        core("CAPNSProcess", []),
        core("CAPNSStart", ["CAPNSProcess"], inside: ["CAPNSProcess"]),
        core("CAPNSPostgres", ["CAPNSCommon", "CAPNSLibPQ"]),
        // What the simulator has besides: servers, their faults, keys and certificates made for the occasion.
        core(
            "CAPNSTransportServer",
            [
                "CAPNSCommon", "CAPNSTransport", "CAPNSReactor", "CAPNSTLS", "CAPNSHTTP2", "CAPNSOpenSSL",
            ],
            inside: ["CAPNSTransport", "CAPNSReactor", "CAPNSTLS", "CAPNSHTTP2"]),
        core("CAPNSIdentities", ["CAPNSCommon", "CAPNSCrypto", "CAPNSOpenSSL"], inside: ["CAPNSCrypto"]),

        // Swift: policy.
        strictModule("APNSBatchBasics", ["CAPNSCommon"]),
        strictModule("APNSBatchRows", ["APNSBatchBasics", "CAPNSZlib", "CAPNSZstd"]),
        strictModule("APNSBatchNotification", ["APNSBatchBasics"]),
        strictModule("APNSBatchCredentials", ["APNSBatchBasics", "CAPNSCrypto", "CAPNSCommon"]),
        strictModule("APNSBatchIdentities", ["APNSBatchCredentials", "CAPNSCrypto", "CAPNSIdentities"]),
        strictModule("APNSBatchTransport", ["CAPNSTransport", "APNSBatchBasics"]),
        strictModule("APNSBatchModel", ["APNSBatchNotification", "APNSBatchCredentials", "APNSBatchBasics"]),
        strictModule(
            "APNSBatchRecords",
            [
                "APNSBatchModel", "APNSBatchRows", "APNSBatchNotification", "APNSBatchCredentials",
                "APNSBatchBasics",
            ]),
        strictModule(
            "APNSBatchPlanning", ["APNSBatchRecords", "APNSBatchModel", "APNSBatchRows", "APNSBatchBasics"]),
        strictModule(
            "APNSBatchSending",
            [
                "APNSBatchRecords", "APNSBatchModel", "APNSBatchRows", "APNSBatchNotification", "APNSBatchCredentials",
                "APNSBatchTransport", "APNSBatchBasics", .product(name: "Logging", package: "swift-log"),
            ]),
        strictModule(
            "APNSBatch",
            [
                "APNSBatchSending", "APNSBatchRecords", "APNSBatchModel", "APNSBatchRows", "APNSBatchNotification",
                "APNSBatchCredentials", "APNSBatchTransport", "APNSBatchBasics",
                .product(name: "Logging", package: "swift-log"),
                product("ServiceLifecycle", "swift-service-lifecycle"),
                product("CoreMetrics", "swift-metrics", of: "Metrics"),
                product("Tracing", "swift-distributed-tracing"), product("Configuration", "swift-configuration"),
            ]),
        strictModule(
            "APNSBatchPostgres",
            [
                "APNSBatchRecords", "APNSBatchModel", "APNSBatchNotification", "APNSBatchCredentials",
                "APNSBatchBasics", "CAPNSPostgres",
            ]),
        strictModule("APNSBatchMetrics", ["APNSBatchModel", "APNSBatchNotification", "APNSBatchBasics"]),
        strictModule("APNSBatchWebhooks", ["APNSBatchCredentials", "APNSBatchBasics"]),
        strictModule(
            "APNSBatchReport",
            [
                "APNSBatch", "APNSBatchRecords", "APNSBatchModel", "APNSBatchRows", "APNSBatchNotification",
                "APNSBatchBasics", .product(name: "Mustache", package: "swift-mustache"),
            ]),
        strictModule(
            "APNSBatchSimulator",
            [
                "CAPNSTransport", "CAPNSTransportServer", "APNSBatchCredentials", "APNSBatchIdentities",
                "APNSBatchBasics",
            ]),
        strictModule("APNSSimulator", ["APNSBatchSimulator", "APNSBatchModel", "APNSBatchBasics"]),
        // The command is a library, so that tests can call what it is made of.
        module(
            "APNSBatchCommand",
            [
                "APNSBatch", "APNSBatchMetrics", "APNSBatchPostgres", "APNSBatchReport", "APNSBatchSimulator",
                "APNSBatchWebhooks", "APNSBatchBasics", "CAPNSProcess", "Yams",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .executableTarget(
            name: "apns-batch", dependencies: ["APNSBatchCommand", "CAPNSStart"], swiftSettings: swift),

        // Tests.
        .target(name: "CAPNSTestSupport", path: "Tests/Support/CAPNSTestSupport", cSettings: c),
        .target(name: "APNSBatchTestSupport", path: "Tests/Support/APNSBatchTestSupport", swiftSettings: swift),
        .target(name: "CAPNSFailingAllocator", path: "Tests/Support/CAPNSFailingAllocator", cSettings: c),
        .target(name: "CAPNSFailingDisk", path: "Tests/Support/CAPNSFailingDisk", cSettings: c),
        .target(
            name: "CAPNSSimulatedNetwork",
            dependencies: ["CAPNSReactor", "CAPNSTLS", "CAPNSHTTP2", "CAPNSTransport", "CAPNSOpenSSL", "CAPNSNGHTTP2"],
            path: "Tests/Support/CAPNSSimulatedNetwork",
            cSettings: c
                + ["CAPNSReactor", "CAPNSTLS", "CAPNSHTTP2", "CAPNSTransport"].map {
                    .headerSearchPath("../../../CSupport/\($0)")
                }),
        .target(
            name: "CAPNSAllocationScenarios",
            dependencies: [
                "CAPNSFailingAllocator", "CAPNSReactor", "CAPNSTransportServer", "CAPNSCrypto", "CAPNSIdentities",
            ],
            path: "Tests/Support/CAPNSAllocationScenarios", cSettings: c),
        tests(
            "AllocationTests",
            [
                "APNSBatchTestSupport", "CAPNSAllocationScenarios", "CAPNSReactor", "CAPNSTransport",
                "APNSBatchCredentials", "APNSBatchIdentities",
            ]),
        .target(
            name: "CAPNSFuzzSession", dependencies: ["CAPNSTransportServer", "CAPNSHTTP2", "CAPNSNGHTTP2"],
            path: "Fuzz/Session", cSettings: c + [.headerSearchPath("../../CSupport/CAPNSHTTP2")]),
        .target(
            name: "APNSBatchFuzzTargets",
            dependencies: [
                "CAPNSFuzzSession", "CAPNSCrypto", "CAPNSCommon", "APNSBatchBasics", "APNSBatch", "APNSBatchSending",
                "APNSBatchPlanning", "APNSBatchRecords", "APNSBatchModel", "APNSBatchRows", "APNSBatchNotification",
                "APNSBatchMetrics",
            ],
            path: "Fuzz/Targets", swiftSettings: swift),
        tests("FuzzReplayTests", ["APNSBatchTestSupport", "APNSBatchFuzzTargets"]),
        tests("CAPNSReactorTests", ["CAPNSReactor", "CAPNSSimulatedNetwork", "CAPNSTestSupport"]),
        tests(
            "CAPNSTransportTests",
            [
                "APNSBatchTestSupport", "APNSBatchSimulation", "CAPNSTransport", "CAPNSTransportServer", "CAPNSTLS",
                "CAPNSHTTP2", "CAPNSNGHTTP2", "APNSBatchCredentials", "APNSBatchIdentities",
                "APNSBatchNotification", "APNSBatchBasics", "APNSBatch", "APNSBatchSending", "APNSBatchRecords",
                "APNSBatchModel",
            ]),
        tests("APNSBatchBasicsTests", ["APNSBatchBasics"]),
        tests("APNSBatchRowsTests", ["APNSBatchRows", "CAPNSZlib", "CAPNSZstd"]),
        tests("APNSBatchNotificationTests", ["APNSBatchNotification", "APNSBatchCredentials", "APNSBatchIdentities"]),
        tests(
            "APNSBatchCredentialsTests",
            ["APNSBatchCredentials", "APNSBatchIdentities", "APNSBatchBasics", "CAPNSTestSupport"]),
        tests("APNSBatchMetricsTests", ["APNSBatchMetrics", "APNSBatchModel", "APNSBatchNotification"]),
        tests("APNSBatchWebhooksTests", ["APNSBatchWebhooks", "APNSBatchBasics"]),
        tests("APNSBatchPostgresTests", ["APNSBatchPostgres", "APNSBatchRecords", "APNSBatchModel"]),
        tests(
            "APNSBatchPlanningTests",
            ["APNSBatchPlanning", "APNSBatchRecords", "APNSBatchModel", "APNSBatchRows", "APNSBatchBasics"]),
        tests("APNSBatchTransportTests", ["APNSBatchTransport", "CAPNSTransport", "APNSBatchBasics"]),
        tests(
            "APNSBatchTests",
            [
                "APNSBatchBasics", "APNSBatch", "APNSBatchSending", "APNSBatchPlanning", "APNSBatchRecords",
                "APNSBatchModel", "APNSBatchSimulator", "APNSBatchCredentials", "APNSBatchIdentities",
                "APNSBatchNotification", "APNSBatchTransport",
                "CAPNSTransport", "CAPNSTransportServer", "APNSBatchRows", "CAPNSFailingDisk", "APNSBatchSimulation",
                "APNSBatchTestSupport", .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                product("ServiceLifecycle", "swift-service-lifecycle"),
                product("CoreMetrics", "swift-metrics", of: "Metrics"),
                product("MetricsTestKit", "swift-metrics", of: "Metrics"),
                product("Tracing", "swift-distributed-tracing"),
                product("InMemoryTracing", "swift-distributed-tracing", of: "Tracing"),
                product("Configuration", "swift-configuration"),
            ]),
        tests(
            "APNSBatchSimulatorTests",
            [
                "APNSBatchSimulator", "APNSBatchCredentials", "APNSBatchIdentities", "CAPNSTransport",
                "CAPNSTransportServer",
            ]),
        tests("APNSSimulatorTests", ["APNSSimulator", "APNSBatch"]),
        tests(
            "APNSBatchReportTests",
            [
                "APNSBatchReport", "APNSBatch", "APNSBatchRecords", "APNSBatchModel", "APNSBatchBasics",
            ]),
        tests(
            "APNSBatchCommandTests",
            [
                "APNSBatchCommand", "APNSBatch", "APNSBatchModel", "APNSBatchRecords", "APNSBatchSimulator",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                product("Configuration", "swift-configuration"),
            ]),
        tests("EndToEndTests", ["APNSBatch", "APNSBatchTestSupport"]),
        .target(
            name: "APNSBatchSimulation",
            dependencies: [
                "APNSBatchBasics", "APNSBatch", "APNSBatchSending", "APNSBatchRecords", "APNSBatchModel",
                "APNSBatchSimulator", "APNSBatchRows", "APNSBatchTransport", "CAPNSTransport", "CAPNSReactor",
                "CAPNSSimulatedNetwork",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Support/Simulation", swiftSettings: swift),
        .executableTarget(
            name: "apns-batch-simulation",
            dependencies: ["APNSBatchSimulation", .product(name: "Logging", package: "swift-log")],
            path: "Tests/Simulation",
            swiftSettings: swift),
        tests("SimulationTests", ["APNSBatchTestSupport", "APNSBatchSimulation"]),

        // Benchmarks.
        .target(name: "CAPNSFloor", dependencies: ["CAPNSNGHTTP2"], path: "Benchmarks/Floor", cSettings: c),
        .executableTarget(
            name: "apns-batch-micro-benchmarks",
            dependencies: [
                "CAPNSFloor", "APNSBatchBasics", "APNSBatch", "APNSBatchSending", "APNSBatchRecords", "APNSBatchModel",
                "APNSBatchRows", "APNSBatchNotification", "APNSBatchCredentials",
                "APNSBatchIdentities", "CAPNSZlib", "CAPNSZstd",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Benchmarks/Micro", swiftSettings: swift),
        .executableTarget(
            name: "apns-batch-library-benchmarks",
            dependencies: ["APNSBatch", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Benchmarks/Library", swiftSettings: swift),
    ]
)

// The fuzzer itself, for scripts/fuzz: it needs libFuzzer, which is linked on the command line.
if Context.environment["APNS_BATCH_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz", dependencies: ["APNSBatchFuzzTargets"], path: "Fuzz/Runner", swiftSettings: swift))
}

// The commit that --version shows, for scripts/package.
if let commit = Context.environment["APNS_BATCH_COMMIT"] {
    package.targets.first { $0.name == "CAPNSProcess" }?.cSettings?
        .append(.define("APNS_BUILD_COMMIT", to: "\"\(commit)\""))
}
