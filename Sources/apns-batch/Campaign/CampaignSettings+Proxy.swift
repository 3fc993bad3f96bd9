import APNSBatch
import Foundation

extension CampaignSettings {
    /// The proxy that the settings describe. A password is given by a file or the environment: arguments are seen by every
    /// user of the machine, and a run's ledger keeps them. It is never repeated in an error.
    func campaignProxy() throws -> Campaign.Proxy? {
        if proxy == "none" { return nil }
        let password = try proxyPassword()
        guard let proxy else {
            if password != nil { throw UsageError("there is a proxy's password and no --proxy") }
            return nil
        }
        guard let url = URLComponents(string: proxy), url.scheme == "http", let host = url.host, !host.isEmpty,
            let port = url.port.flatMap({ UInt16(exactly: $0) }), port > 0, ["", "/"].contains(url.path),
            url.query == nil, url.fragment == nil
        else { throw UsageError("--proxy: expected http://HOST:PORT or http://USER@HOST:PORT") }
        guard url.password == nil else {
            throw UsageError("--proxy: no password there; give --proxy-password-file or --proxy-password-env")
        }
        if url.user == nil && password != nil { throw UsageError("--proxy: there is a password and no USER@") }
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        return Campaign.Proxy(host: bare, port: port, user: url.user, password: password ?? "")
    }

    private func proxyPassword() throws -> String? {
        switch (proxyPasswordFile, proxyPasswordEnv) {
        case (nil, nil): return nil
        case (let file?, nil):
            SecretFile.exposure(of: file).map { complain("warning: \($0)") }
            var bytes = try SecretFile.bytes(of: file)
            defer { bytes.wipe() }
            return String(
                decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        case (nil, let variable?):
            guard let value = ProcessInfo.processInfo.environment[variable] else {
                throw UsageError("--proxy-password-env: there is no environment variable \(variable)")
            }
            return value
        case (.some, .some): throw UsageError("give --proxy-password-file or --proxy-password-env, not both")
        }
    }
}
