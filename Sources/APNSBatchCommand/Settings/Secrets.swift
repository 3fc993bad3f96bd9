import APNSBatch
import APNSBatchBasics
import Foundation

/// Passwords and passphrases. Settings give them as a file or an environment variable, because every user of the machine can
/// see arguments, and the ledger of a run stores them.
extension CampaignSettings {
    /// Returns the first line of the file, or the value of the variable; nil if the settings name neither. The caller wipes
    /// the bytes.
    ///
    /// - Parameter name: the name of the settings without `File` and `Env`.
    func secret(_ name: String) throws -> [UInt8]? {
        let (fileFlag, variableFlag) = (SettingName.flag(name + "File"), SettingName.flag(name + "Env"))
        switch (self[dynamicMember: name + "File"], self[dynamicMember: name + "Env"]) {
        case (nil, nil): return nil
        case (let file?, nil):
            var bytes = try SecretFile.bytes(of: file)
            defer { bytes.wipe() }
            // Editors add a line end to the file.
            return Array(bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
        case (nil, let variable?):
            guard let value = ProcessInfo.processInfo.environment[variable] else {
                throw UsageError("\(variableFlag): the environment variable \(variable) is not set")
            }
            return Array(value.utf8)
        case (.some, .some): throw UsageError("give either \(fileFlag) or \(variableFlag), not both")
        }
    }

    /// Calls `body` with the passphrase of the settings. If a passphrase is needed and the settings have none, calls `body`
    /// again with one from the terminal. Passphrases are wiped after `body` has returned.
    func withPassphrase<T>(of file: String, asks: Bool, _ body: ([UInt8]?) throws -> T) throws -> T {
        var given = try secret("keyPassphrase")
        defer { given?.wipe() }
        do {
            return try body(given)
        } catch let error as CampaignError where error.code == .passphraseNeeded {
            guard asks else { throw error }
            guard var typed = Terminal.askSecret("Passphrase of \(file): ") else {
                throw UsageError("\(file): \(error); give --key-passphrase-file or --key-passphrase-env", cause: error)
            }
            defer { typed.wipe() }
            return try body(typed)
        }
    }

    /// Returns the proxy that the settings describe, with its password. Errors never contain the password.
    ///
    /// - Parameter proxy: The value of the setting `proxy`.
    func withPassword(_ proxy: Campaign.Proxy?) throws -> Campaign.Proxy? {
        if self.proxy != nil, proxy == nil { return nil }
        if self.proxyPasswordEnv == nil, let file = self.proxyPasswordFile {
            SecretFile.exposure(of: file).map { complain("warning: \($0)") }
        }
        guard var bytes = try secret("proxyPassword") else { return proxy }
        defer { bytes.wipe() }
        guard var proxy else { throw UsageError("a proxy password is given without --proxy") }
        if proxy.user == nil { throw UsageError("--proxy: a password is given, but the URL has no USER@") }
        proxy.password = String(decoding: bytes, as: UTF8.self)
        return proxy
    }

    /// Returns the host of a URL without the brackets of an IPv6 address.
    static func bare(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}

/// The controlling terminal of this process, independent of standard input and output.
enum Terminal {
    /// Asks for a line without echoing it. Returns nil without a terminal.
    static func askSecret(_ prompt: String) -> [UInt8]? {
        guard let file = try? OpenFile("/dev/tty", O_RDWR, .device) else { return nil }
        file.makeBlocking()
        let terminal = file.descriptor
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { return nil }
        var silent = before
        // ISIG is off so that Ctrl-C cannot leave the terminal without echo.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return nil }
        defer { tcsetattr(terminal, TCSAFLUSH, &before) }
        show(Printable.text(prompt), on: terminal)
        let line = readLine(from: terminal)
        show("\n", on: terminal)
        return line
    }

    private static func show(_ text: String, on terminal: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
    }

    private static func readLine(from terminal: Int32) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(4096)  // a growing array would leave copies in memory
        var byte: UInt8 = 0
        while read(terminal, &byte, 1) == 1, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
            line.append(byte)
        }
        return line
    }
}
