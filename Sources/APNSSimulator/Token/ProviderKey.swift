/// A signing key that the simulator knows.
struct ProviderKey: Sendable {
    var keyID: String
    var teamID: String
    /// Number of the team; keys of one team have the same.
    var team: Int32
    /// Whether a signature (64 bytes, r and s) is this key's over the message.
    var verify: @Sendable (_ message: Bytes, _ signature: [UInt8]) -> Bool

    /// Numbers the teams of the keys in order of appearance.
    static func numbered(_ keys: [ProviderKey]) -> [ProviderKey] {
        var teams: [String: Int32] = [:]
        return keys.map { key in
            var key = key
            key.team = teams[key.teamID, default: Int32(teams.count)]
            teams[key.teamID] = key.team
            return key
        }
    }
}
