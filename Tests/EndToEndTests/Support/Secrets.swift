import Foundation

/// Secrets that no output of `apns-batch` may contain. They are looked for at the end of every process.
enum Secrets {
    /// The passphrases of all tests.
    static let passphrases = [EndToEnd.Passphrases.passphrase, "pass phrase of a test"]

    /// Parts of URLs that are secrets.
    static let urlParts = ["5ec2e7f0-monitor", "5ec2e7f0-webhook"]

    /// Words that occur only in payloads.
    static let payloadTexts = ["don't miss them", "has_secret_text"]

    /// Returns the kinds of secrets that a text contains.
    /// - Parameters:
    ///   - keys: PEM texts whose lines are secret.
    ///   - isShown: whether the command was asked to show rows, as by `render`.
    static func found(in text: String, keys: [String] = [], isShown: Bool = false) -> [String] {
        var found: [String] = []
        if text.contains("PRIVATE KEY"), text.contains(/PRIVATE KEY-----\s+[A-Za-z0-9+\/=]{16}/) {
            found.append("a private key")
        }
        if keys.flatMap(bodyLines).contains(where: text.contains) { found.append("the body of a private key") }
        if text.contains("eyJ"), text.contains(/eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}/) {
            found.append("a provider token")
        }
        if text.contains("whsec_"), text.contains(/whsec_[A-Za-z0-9+\/=]{8}/) {
            found.append("the secret of a webhook")
        }
        if urlParts.contains(where: text.contains) { found.append("a URL that is a secret") }
        if passphrases.contains(where: text.contains) { found.append("a passphrase") }
        if !isShown, hasToken(text) { found.append("a whole device token") }
        if !isShown, payloadTexts.contains(where: text.contains) { found.append("the text of a payload") }
        return found
    }

    /// Whether a text has a word of 64 hexadecimal digits.
    static func hasToken(_ text: String) -> Bool {
        var (digits, isWord) = (0, false)
        for byte in Array(text.utf8) + [0] {
            switch byte {
            case 48...57, 65...70, 97...102:
                digits = isWord ? 0 : digits + 1
            case 71...90, 95, 103...122:
                (digits, isWord) = (0, true)
            default:
                if digits == 64 { return true }
                (digits, isWord) = (0, false)
            }
        }
        return false
    }

    private static func bodyLines(_ pem: String) -> [String] {
        pem.split(separator: "\n").map(String.init).filter { $0.count >= 32 && !$0.hasPrefix("-") }
    }

    /// Returns the private keys in a directory.
    static func keys(in directory: URL) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.filter { $0.hasSuffix(".p8") || $0.contains("key") }.compactMap {
            try? String(contentsOf: directory.appending(path: $0), encoding: .utf8)
        }.filter { $0.contains("PRIVATE KEY-----") }
    }
}
