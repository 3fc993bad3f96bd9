import Foundation

/// Runs Python 3 with its cryptography package, which serves as an independent reference.
enum Python {
    struct Failed: Error { let status: Int32 }

    /// Runs a script with the bytes as its standard input, and returns what it wrote to standard output.
    static func run(_ script: String, arguments: [String] = [], input: [UInt8]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script] + arguments
        let (stdin, stdout) = (Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: input)
        try stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(status: process.terminationStatus) }
        return String(decoding: output, as: UTF8.self)
    }
}
