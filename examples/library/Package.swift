// swift-tools-version: 6.3
import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let library = Target.Dependency.product(name: "APNSBatch", package: "apns-batch")
let simulator = Target.Dependency.product(name: "APNSSimulator", package: "apns-batch")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let database = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

let package = Package(
    name: "apns-batch-examples",
    products: [
        .executable(name: "push-server", targets: ["PushServer"]),
        .executable(name: "nightly-campaign", targets: ["NightlyCampaign"]),
    ],
    dependencies: [
        // In a package of yours: .package(url: "…/apns-batch", from: "…", traits: […]). The traits are those that exist.
        .package(name: "apns-batch", path: "../..", traits: ["ServiceLifecycle"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.9.0"),
        // Without its own traits, which push-server has no use for.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "ProviderOptions", dependencies: [library, arguments], swiftSettings: settings),
        .executableTarget(
            name: "PushServer",
            dependencies: ["ProviderOptions", library, arguments, logging, lifecycle, hummingbird],
            swiftSettings: settings),
        .executableTarget(
            name: "NightlyCampaign",
            dependencies: ["ProviderOptions", library, arguments, logging, lifecycle, database],
            swiftSettings: settings),
        .testTarget(
            name: "PushServerTests", dependencies: ["PushServer", library, simulator, hummingbird],
            swiftSettings: settings),
        .testTarget(
            name: "NightlyCampaignTests",
            dependencies: ["NightlyCampaign", library, simulator, logging, lifecycle, database],
            swiftSettings: settings),
    ]
)
