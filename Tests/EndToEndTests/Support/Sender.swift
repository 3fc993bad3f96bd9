import Foundation
import Testing

/// Runs `apns-batch` in the directory of one test.
struct Sender {
    let scratch: Scratch
    let credentials: TestCredentials

    init() throws {
        scratch = try Scratch()
        credentials = try TestCredentials(in: scratch)
    }

    static let template = Tools.fixture("campaign/template.json")

    /// Writes `count` rows to a file of the scratch directory, and returns its path.
    func makeRows(_ count: Int, _ form: String...) throws -> String {
        let path = scratch.path("rows-\(scratch.nextNumber()).csv")
        try prepare(Tools.script("make-rows"), [String(count), "-o", path] + form, in: scratch)
        return path
    }

    /// Packs a file with gzip or zstd, whose command has that name. Returns the path of the packed file, whose name does not tell.
    func pack(_ path: String, _ packing: String) throws -> String {
        let packed = path + ".packed"
        try prepare("/bin/sh", ["-c", "\(packing) -c '\(path)' > '\(packed)'"], in: scratch)
        return packed
    }

    func newRunDirectory() -> String { scratch.path("run-\(scratch.nextNumber())") }

    /// Returns the arguments of `send` to a server on the loopback interface.
    func arguments(_ input: String, to port: UInt16, runDirectory: String, _ more: [String]) -> [String] {
        Self.replacing(
            ["send", "--input", input, "--to", "localhost:\(port)", "--run-dir", runDirectory] + credentials.flags
                + more)
    }

    /// Returns arguments in which a flag that a test gives again replaces that of its helper: the command takes most of them once.
    static func replacing(_ arguments: [String]) -> [String] {
        let repeatable = ["--input", "--strings", "--expect", "--stop-at", "--result-columns", "--provider-key"]
        var kept: [String] = []
        var (index, seen) = (arguments.count - 1, Set<String>())
        while index >= 0 {
            let hasValue = index > 0 && arguments[index - 1].hasPrefix("--") && !arguments[index].hasPrefix("--")
            let name = arguments[hasValue ? index - 1 : index]
            let piece = hasValue ? [name, arguments[index]] : [name]
            if !name.hasPrefix("--") || repeatable.contains(name) || seen.insert(name).inserted { kept = piece + kept }
            index -= piece.count
        }
        return kept
    }

    /// Rows from a pipe are sent while they are written to it.
    func start(
        _ input: String, to port: UInt16, runDirectory: String, _ more: [String], standardInput: Child.Input = .nothing
    ) throws -> Child {
        var more = more
        if case .pipe = standardInput { more += ["--spool", "never"] }
        return try Child(
            Tools.command, arguments(input, to: port, runDirectory: runDirectory, more), name: "send", in: scratch,
            input: standardInput)
    }

    /// Sends rows and reads the results. The process must end as expected.
    @discardableResult
    func send(
        _ input: String, to port: UInt16, _ more: [String], expecting code: Int32 = 0,
        standardInput: Child.Input = .nothing, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> (finished: Finished, results: RunResults) {
        let runDirectory = newRunDirectory()
        let finished = try Child.run(
            Tools.command, arguments(input, to: port, runDirectory: runDirectory, more), name: "send", in: scratch,
            input: standardInput, seconds: 300)
        try #require(finished.ending == .exited(code), "\(finished)", sourceLocation: sourceLocation)
        return (finished, try RunResults(runDirectory))
    }

    /// Runs the command with any arguments. Without `--findings`, check would write where it was started.
    func command(_ arguments: [String], input: Child.Input = .nothing) throws -> Finished {
        let isCheck = arguments.first == "check" && !arguments.contains("--findings")
        let findings = isCheck ? ["--findings", scratch.path("findings.csv")] : []
        let all = Self.replacing(arguments) + findings
        return try Child.run(Tools.command, all, name: "command", in: scratch, input: input)
    }

    /// Returns the output of `render --json` for the whole input, by row.
    func render(_ input: String, _ more: [String]) throws -> [[String: Any]] {
        let finished = try command(
            ["render", "--input", input, "--to", "localhost:1", "--rows", "0", "--json"] + credentials.flags + more)
        try #require(finished.ending == .exited(0), "\(finished)")
        return try finished.outputLines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }
}
