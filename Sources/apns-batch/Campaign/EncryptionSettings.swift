import APNSBatch

/// `encryption:` of a campaign file.
struct EncryptionSettings: Codable, Equatable {
    var keys: [String]
    var keyColumn: String?
    var cipher: String?
    var padding: String?

    /// The names of all of them, as in a campaign file.
    static let names = SettingName.keys(of: EncryptionSettings(keys: []))

    func encryption() throws -> Campaign.Encryption {
        var encryption = Campaign.Encryption(keys: keys)
        if let keyColumn { encryption.keyColumn = keyColumn }
        if let cipher { encryption.cipher = try Self.choice(cipher, "cipher") }
        if let padding { encryption.padding = try Self.choice(padding, "padding") }
        return encryption
    }

    private static func choice<T: RawRepresentable<String> & CaseIterable>(_ text: String, _ key: String) throws -> T {
        if let value = T(rawValue: text) { return value }
        let known = T.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("encryption.\(key): expected one of \(known), found \"\(text)\"")
    }
}
