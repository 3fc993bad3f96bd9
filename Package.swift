// swift-tools-version: 6.2
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

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: swift)
}

let package = Package(
    name: "apns-batch",
    products: [
        .library(name: "APNSBatch", targets: ["APNSBatch"]),
        .executable(name: "apns-batch", targets: ["apns-batch"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: [
        // Libraries of the system.
        .systemLibrary(
            name: "CURing", path: "CSupport/System/CURing", pkgConfig: "liburing", providers: [.apt(["liburing-dev"])]),
        .systemLibrary(
            name: "CNGHTTP2", path: "CSupport/System/CNGHTTP2", pkgConfig: "libnghttp2",
            providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(
            name: "COpenSSL", path: "CSupport/System/COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),

        // The C core: mechanism, no policy.
        core("CCommon", []),
        core("CReactor", ["CCommon", "CURing"]),
        core("CTLS", ["CCommon", "COpenSSL"]),
        core("CHTTP2", ["CCommon", "CNGHTTP2"]),
        core("CTransport", ["CCommon", "CReactor", "CTLS", "CHTTP2"]),
        core("CCrypto", ["CCommon", "COpenSSL"]),
        core("CProcess", []),
        // What the simulator has besides: servers, their faults, keys and certificates made for the occasion.
        core(
            "CTransportServer", ["CCommon", "CTransport", "CReactor", "CTLS", "CHTTP2", "COpenSSL", "CNGHTTP2"],
            inside: ["CTransport", "CReactor", "CTLS", "CHTTP2"]),
        core("CIdentities", ["CCommon", "CCrypto", "COpenSSL"], inside: ["CCrypto"]),

        // Swift: policy.
        module("APNSBatchBasics", ["CCommon"]),
        module("CSVReader", ["APNSBatchBasics"]),
        module("APNSBatchNotification", ["APNSBatchBasics"]),
        module("Credentials", ["CCrypto", "CCommon"]),
        module("Identities", ["Credentials", "CCrypto", "CIdentities"]),
        module("LaneTransport", ["CTransport", "APNSBatchBasics"]),
        module(
            "APNSBatch",
            [
                "CSVReader", "APNSBatchNotification", "Credentials", "LaneTransport", "CCommon",
                "APNSBatchBasics",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ]),
        module("APNSSimulator", ["CTransport", "CTransportServer", "Credentials", "Identities", "APNSBatchBasics"]),
        .executableTarget(
            name: "apns-batch",
            dependencies: [
                "APNSBatch", "APNSSimulator", "APNSBatchBasics", "CProcess", "Yams",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swift),

        // Tests.
        .target(name: "CTestSupport", path: "Tests/Support/CTestSupport", cSettings: c),
        .target(name: "TestThreads", path: "Tests/Support/TestThreads", swiftSettings: swift),
        .target(name: "CFailingAllocator", path: "Tests/Support/CFailingAllocator", cSettings: c),
        .target(name: "CFailingDisk", path: "Tests/Support/CFailingDisk", cSettings: c),
        .target(
            name: "CSimulatedNetwork",
            dependencies: ["CReactor", "CTLS", "CHTTP2", "CTransport", "COpenSSL", "CNGHTTP2"],
            path: "Tests/Support/CSimulatedNetwork",
            cSettings: c
                + ["CReactor", "CTLS", "CHTTP2", "CTransport"].map { .headerSearchPath("../../../CSupport/\($0)") }),
        .target(
            name: "CAllocationScenarios",
            dependencies: ["CFailingAllocator", "CReactor", "CTransportServer", "CCrypto", "CIdentities"],
            path: "Tests/Support/CAllocationScenarios", cSettings: c),
        tests(
            "AllocationTests",
            ["TestThreads", "CAllocationScenarios", "CReactor", "CTransport", "Credentials", "Identities"]),
        .target(name: "CFuzzSession", dependencies: ["CTransportServer"], path: "Fuzz/Session", cSettings: c),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "CFuzzSession", "CCrypto", "CCommon", "APNSBatch", "CSVReader", "APNSBatchNotification",
            ],
            path: "Fuzz/Targets", swiftSettings: swift),
        tests("FuzzReplayTests", ["TestThreads", "FuzzTargets"]),
        tests("CReactorTests", ["CReactor", "CSimulatedNetwork", "CTestSupport"]),
        tests(
            "CTransportTests",
            [
                "TestThreads", "CTransport", "CTransportServer", "CTLS", "CNGHTTP2", "Credentials", "Identities",
                "APNSBatchNotification", "APNSBatch",
            ]),
        tests("APNSBatchBasicsTests", ["APNSBatchBasics"]),
        tests("CSVReaderTests", ["CSVReader"]),
        tests("APNSBatchNotificationTests", ["APNSBatchNotification", "Credentials", "Identities"]),
        tests("CredentialsTests", ["Credentials", "Identities", "APNSBatchBasics", "CTestSupport"]),
        tests("LaneTransportTests", ["LaneTransport", "CTransport", "APNSBatchBasics"]),
        tests(
            "APNSBatchTests",
            [
                "APNSBatch", "APNSSimulator", "Credentials", "Identities", "APNSBatchNotification", "LaneTransport",
                "CTransport", "CTransportServer", "CSVReader", "CFailingDisk",
            ]),
        tests("APNSSimulatorTests", ["APNSSimulator", "Credentials", "Identities", "CTransport", "CTransportServer"]),
        tests("EndToEndTests", ["TestThreads"]),
        .target(
            name: "Simulation",
            dependencies: [
                "APNSBatch", "APNSSimulator", "CSVReader", "LaneTransport", "CTransport", "CSimulatedNetwork",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Support/Simulation", swiftSettings: swift),
        .executableTarget(
            name: "simulation", dependencies: ["Simulation"], path: "Tests/Simulation", swiftSettings: swift),
        tests("SimulationTests", ["TestThreads", "Simulation"]),

        // Benchmarks.
        .target(name: "CFloor", dependencies: ["CNGHTTP2"], path: "Benchmarks/Floor", cSettings: c),
        .executableTarget(
            name: "micro-benchmarks",
            dependencies: [
                "CFloor", "APNSBatch", "CSVReader", "APNSBatchNotification", "Credentials", "Identities",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Benchmarks/Micro", swiftSettings: swift),
    ]
)

// The fuzzer itself, for scripts/fuzz: it needs libFuzzer, which is linked on the command line.
if Context.environment["APNS_BATCH_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(name: "fuzz", dependencies: ["FuzzTargets"], path: "Fuzz/Runner", swiftSettings: swift))
}
