/// A signing key that the simulator knows.
struct ProviderKey: Sendable {
    var keyID: String
    var teamID: String
    /// Number of the team; keys of one team have the same.
    var team: Int32
    /// Number of the key.
    var number: Int32 = -1
    /// What the key may push to; nil for what the simulator says for all.
    var topics: [String]?
    var isOfOtherEnvironment = false
    /// Whether a signature (64 bytes, r and s) is this key's over the message.
    var verify: @Sendable (_ message: Bytes, _ signature: [UInt8]) -> Bool

    /// Numbers the keys, and their teams in order of appearance.
    static func numbered(_ keys: [ProviderKey]) -> [ProviderKey] {
        var teams: [String: Int32] = [:]
        return keys.enumerated().map { number, key in
            var key = key
            key.number = Int32(number)
            key.team = teams[key.teamID, default: Int32(teams.count)]
            teams[key.teamID] = key.team
            return key
        }
    }
}
