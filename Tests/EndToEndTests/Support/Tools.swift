import Foundation
import Testing

/// The locations of the programs under test, and the settings of this test run.
enum Tools {
    /// The root of the checkout.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The path of the `apns-batch` built along with the tests, next to the test bundle, or of the one that
    /// APNS_BATCH_COMMAND names.
    static let command = ProcessInfo.processInfo.environment["APNS_BATCH_COMMAND"] ?? built("apns-batch")

    /// Returns the path of a program built along with the tests.
    static func built(_ name: String) -> String {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: bundle).deletingLastPathComponent().appending(path: name).path
    }

    /// The sanitizer that everything was built with: `address`, `undefined`, `thread`, or nil.
    static let sanitizer: String? = {
        let name = ProcessInfo.processInfo.environment["APNS_BATCH_SANITIZER"] ?? ""
        return name.isEmpty ? nil : name
    }()

    static func fixture(_ name: String) -> String { root.appending(path: "Tests/Fixtures/\(name)").path }

    static func peer(_ name: String) -> String { root.appending(path: "Tests/Peers/\(name)").path }

    static func script(_ name: String) -> String { root.appending(path: "scripts/\(name)").path }

    /// Debian's Python, which has the packages h2 and cryptography.
    static let python = "/usr/bin/python3"

    /// Whether this kernel and the restrictions of this process allow io_uring.
    static let hasIOURing: Bool = {
        guard let scratch = try? Scratch() else { return false }
        let probe =
            "import ctypes,os;b=ctypes.create_string_buffer(120);r=ctypes.CDLL(None).syscall(425,2,b);os._exit(r<0)"
        let finished = try? Child.run(python, ["-c", probe], name: "probe", in: scratch)
        return finished?.ending == .exited(0)
    }()

    /// Whether this process may make a file system in memory, in a namespace of its own.
    static let canMount: Bool = {
        guard let scratch = try? Scratch() else { return false }
        let script = "mount -t tmpfs -o size=64k tmpfs '\(scratch.directory.path)'"
        let finished = try? Child.run("unshare", ["-rm", "sh", "-c", script], name: "mount", in: scratch)
        return finished?.ending == .exited(0)
    }()

    /// The loops that are available here.
    static let loops = hasIOURing ? ["io_uring", "epoll"] : ["epoll"]
}

/// Runs a tool that prepares a test. If the tool fails, the test fails.
@discardableResult
func prepare(_ program: String, _ arguments: [String], in scratch: Scratch) throws -> String {
    let finished = try Child.run(program, arguments, name: "prepare", in: scratch)
    try #require(finished.ending == .exited(0), "\(program) \(arguments): \(finished)")
    return finished.output
}
