import APNSBatchBasics
import Foundation

/// A URL in the first line of a file. It is a secret, because anyone who has it can make requests to it: no message contains it.
enum SecretURL {
    /// Reads the URL: https, or http to the loopback interface.
    ///
    /// - Parameters:
    ///   - hasQuery: Whether it may have a query.
    ///   - isFirstTime: Whether to warn if others can read the file.
    static func read(_ file: String, hasQuery: Bool, isFirstTime: Bool) throws -> URLComponents {
        if isFirstTime { SecretFile.exposure(of: file).map { complain("warning: \($0)") } }
        var bytes = try SecretFile.bytes(of: file)
        defer { bytes.wipe() }
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard let url = URLComponents(string: line.trimmingCharacters(in: .whitespacesAndNewlines)),
            let host = url.host, HostName.isOne(CampaignSettings.bare(host)),
            url.port.map({ 1...65_535 ~= $0 }) ?? true,
            url.scheme == "https" || (url.scheme == "http" && isLoopback(host)), hasQuery || url.query == nil,
            url.fragment == nil
        else {
            let form = hasQuery ? "an https URL" : "an https URL without a query"
            throw UsageError("\(file): expected \(form) in the first line; http is for loopback only")
        }
        return url
    }

    private static func isLoopback(_ host: String) -> Bool {
        var four = in_addr()
        let isFour = inet_pton(AF_INET, host, &four) == 1 && UInt32(bigEndian: four.s_addr) >> 24 == 127
        return isFour || ["localhost", "::1", "[::1]"].contains(host)
    }
}
