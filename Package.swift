// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]
// Same speed as -Ounchecked, and the traps stay: exclusivity is proved statically by the one-owner design. The rooms
// are small modules; what one calls of another on the way of a line is inlined across them.
let fast: [SwiftSetting] =
    strict + [
        .unsafeFlags(["-enforce-exclusivity=unchecked", "-cross-module-optimization"], .when(configuration: .release))
    ]

let package = Package(
    name: "parley",
    products: [
        .executable(name: "parley", targets: ["parley"]),
        .executable(name: "parley-bench", targets: ["parley-bench"]),
    ],
    targets: [
        // Shims without logic.
        .systemLibrary(name: "CSystem"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(name: "CICU", pkgConfig: "icu-i18n", providers: [.apt(["libicu-dev"])]),
        .target(name: "CTOML", cxxSettings: [.unsafeFlags(["-std=c++17"])]),

        // The rooms; every arrow is named in ARCHITECTURE.md and held by TidyTests.
        .target(name: "Bytes", swiftSettings: fast),
        .target(name: "Wire", dependencies: ["Bytes"], swiftSettings: fast),
        .target(name: "Chat", dependencies: ["Wire", "Bytes"], swiftSettings: fast),
        .target(name: "Images", dependencies: ["Bytes"], swiftSettings: fast),
        .target(name: "Net", dependencies: ["Bytes", "CSystem", "COpenSSL"], swiftSettings: fast),
        .target(name: "Store", dependencies: ["Chat", "Wire", "Bytes", "CSQLite", "CSystem"], swiftSettings: fast),
        .target(
            name: "Server",
            dependencies: [
                "Store", "Net", "Chat", "Images", "Wire", "Bytes", "CSystem", "COpenSSL", "CTOML", "CArgon2", "CICU",
            ],
            swiftSettings: fast),
        .executableTarget(name: "parley", dependencies: ["Server"], swiftSettings: fast),

        .executableTarget(
            name: "bench", dependencies: ["Store", "Chat", "Wire", "Bytes", "CAllocations"], path: "Benchmarks/bench",
            swiftSettings: fast),
        .target(name: "CAllocations", path: "Benchmarks/CAllocations"),
        .executableTarget(
            name: "parley-bench", dependencies: ["TestKit", "Net", "Bytes", "CSystem"], path: "Benchmarks/parley-bench",
            swiftSettings: fast),

        .executableTarget(
            name: "bench-storage", dependencies: ["Store", "Chat", "Wire", "Bytes"], path: "Benchmarks/storage",
            swiftSettings: fast),

        // Simulated kernel, clock, disk and seed; scripts; a client for the tests.
        .target(
            name: "TestKit", dependencies: ["Net", "Chat", "Images", "Wire", "Bytes", "CSystem"], swiftSettings: fast),
        .testTarget(name: "BytesTests", dependencies: ["Bytes"], swiftSettings: strict),
        .testTarget(name: "WireTests", dependencies: ["Wire", "Bytes"], swiftSettings: strict),
        .testTarget(name: "ChatTests", dependencies: ["Chat", "Wire", "Bytes", "TestKit"], swiftSettings: strict),
        .testTarget(name: "ImagesTests", dependencies: ["Images", "Bytes", "TestKit"], swiftSettings: strict),
        .testTarget(
            name: "NetTests", dependencies: ["Net", "Bytes", "TestKit", "CSystem", "COpenSSL"], swiftSettings: strict),
        .testTarget(
            name: "StoreTests", dependencies: ["Store", "Chat", "Wire", "Bytes", "TestKit", "CSQLite"],
            swiftSettings: strict),
        .testTarget(
            name: "ServerTests", dependencies: ["Server", "Images", "Chat", "Wire", "Bytes", "TestKit", "CSystem"],
            swiftSettings: strict),
        .testTarget(name: "TidyTests", dependencies: ["Chat", "Wire", "Server"], swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)

// libFuzzer must be in every module, so that Tests/Fuzz/run builds apart from everything else, with this set.
if Context.environment["PARLEY_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzz", dependencies: ["Server", "Images", "Net", "Chat", "Wire", "Bytes", "TestKit"],
            path: "Tests/Fuzz",
            exclude: ["corpus", "run", "irc.dict"], swiftSettings: strict))
}
