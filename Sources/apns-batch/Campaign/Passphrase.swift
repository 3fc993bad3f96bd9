import APNSBatch
import Foundation

/// The passphrase of an encrypted key: from a file, from the environment, or from the person at the terminal.
struct Passphrase {
    let file: String?
    let variable: String?
    /// Whether the person at the terminal may be asked.
    let asks: Bool

    /// Calls `body` with the passphrase that the settings give, and once more with what the terminal gives when one is
    /// needed and there is none. Wiped when `body` has returned, unless it keeps it.
    func opening<T>(_ name: String, _ body: ([UInt8]?) throws -> T) throws -> T {
        var given = try self.given()
        defer { given?.wipe() }
        do {
            return try body(given)
        } catch let error as CampaignError where error.kind == .passphraseNeeded {
            guard asks else { throw error }
            guard var typed = Terminal.askSecret("Passphrase of \(name): ") else {
                throw UsageError("\(name): \(error); give --key-passphrase-file or --key-passphrase-env")
            }
            defer { typed.wipe() }
            return try body(typed)
        }
    }

    /// Nil when the settings name none.
    private func given() throws -> [UInt8]? {
        switch (file, variable) {
        case (nil, nil): return nil
        case (let file?, nil):
            var bytes = try SecretFile.bytes(of: file)
            defer { bytes.wipe() }
            return Self.firstLine(bytes)
        case (nil, let variable?):
            guard let value = ProcessInfo.processInfo.environment[variable] else {
                throw UsageError("--key-passphrase-env: there is no environment variable \(variable)")
            }
            return Array(value.utf8)
        case (.some, .some): throw UsageError("give --key-passphrase-file or --key-passphrase-env, not both")
        }
    }

    /// Editors end a line that nobody typed.
    private static func firstLine(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
    }
}

/// The terminal of this process, whatever standard input and output are.
enum Terminal {
    /// Asks for a line that is not shown; nil without a terminal. Ends at a line's or the input's end.
    static func askSecret(_ prompt: String) -> [UInt8]? {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { return nil }
        var silent = before
        // Without ISIG, so that Ctrl-C cannot leave the terminal silent.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return nil }
        defer { tcsetattr(terminal, TCSAFLUSH, &before) }
        show(prompt, on: terminal)
        let line = readLine(from: terminal)
        show("\n", on: terminal)
        return line
    }

    private static func show(_ text: String, on terminal: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
    }

    private static func readLine(from terminal: Int32) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(4096)  // what grows leaves copies behind
        var byte: UInt8 = 0
        while read(terminal, &byte, 1) == 1, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
            line.append(byte)
        }
        return line
    }
}
