import APNSBatchBasics
import APNSBatchNotification
import Testing

@Suite("Provider tokens that were made elsewhere")
struct IssuedTokenTests {
    private static let now: Int64 = 1_800_000_000
    private static let signature = String(repeating: "A", count: 86)

    private func token(
        _ header: String = #"{"alg":"ES256","kid":"ABC123DEFG"}"#,
        _ claims: String = #"{"iss":"DEF123GHIJ","iat":1799999000}"#, signature: String = Self.signature
    ) -> String {
        let parts = [header, claims].map { String(decoding: Base64.encodeURL(Array($0.utf8)), as: UTF8.self) }
        return (parts + [signature]).joined(separator: ".")
    }

    private func fault(_ text: String) -> IssuedToken.Fault? {
        do {
            _ = try IssuedToken(Array(text.utf8)[...], now: Self.now)
            return nil
        } catch {
            return error
        }
    }

    @Test("A token is used as it is, with the ids and the time in it")
    func sound() throws {
        let text = token(#"{"typ":"JWT","kid":"ABC123DEFG","alg":"ES256"}"#)
        let issued = try IssuedToken(Array(text.utf8)[...], now: Self.now)
        #expect(issued.token.authorization.unwipedCopy == Array("bearer \(text)".utf8))
        #expect(issued.token.issuedAt == 1_799_999_000)
        #expect(issued.issuer.keyID == "ABC123DEFG" && issued.issuer.teamID == "DEF123GHIJ")
    }

    @Test("A token that ProviderToken makes is one")
    func own() throws {
        let issuer = try ProviderToken.Issuer(keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        let made = ProviderToken.make(issuer: issuer, issuedAt: Self.now) { _ in [UInt8](repeating: 7, count: 64) }
        let text = made.authorization.unwipedCopy.dropFirst(7)
        #expect(try IssuedToken(text, now: Self.now).issuer == issuer)
    }

    @Test("What is wrong is named, and no part of the token")
    func faults() {
        #expect(fault("") == .form)
        #expect(fault("x.y") == .form)
        #expect(fault(token() + ".x") == .form)
        #expect(fault(token() + "\n") == .form)
        #expect(fault("bearer " + token()) == .form)
        #expect(fault(token(signature: String(repeating: "A", count: 85))) == .form)
        #expect(fault(token(signature: String(repeating: "+", count: 86))) == .form)
        #expect(fault(String(repeating: "A", count: 3000)) == .length)
        #expect(fault(token(#"{"alg":"none","kid":"ABC123DEFG"}"#)) == .header)
        #expect(fault(token(#"{"alg":"ES256"}"#)) == .header)
        #expect(fault(token(#"{"alg":"ES256","kid":7}"#)) == .header)
        #expect(fault(token(#"["ES256"]"#)) == .header)
        #expect(fault(token(#"{"alg":"ES256","kid":"../../x"}"#)) == .identifier(.keyID))
        let header = #"{"alg":"ES256","kid":"ABC123DEFG"}"#
        #expect(fault(token(header, #"{"iat":1799999000}"#)) == .claims)
        #expect(fault(token(header, #"{"iss":"DEF123GHIJ"}"#)) == .claims)
        #expect(fault(token(header, #"{"iss":"DEF123GHIJ","iat":"1799999000"}"#)) == .claims)
        #expect(fault(token(header, #"{"iss":"DEF123GHIJ","iat":1799999000"#)) == .claims)
    }

    @Test("A token is used for an hour, and clocks may differ by a minute")
    func age() {
        func fault(at issuedAt: Int64) -> IssuedToken.Fault? {
            self.fault(token(#"{"alg":"ES256","kid":"A"}"#, #"{"iss":"B","iat":\#(issuedAt)}"#))
        }
        #expect(fault(at: Self.now) == nil && fault(at: Self.now + 60) == nil)
        #expect(fault(at: Self.now + 61) == .future(61))
        #expect(fault(at: Self.now - 3599) == nil)
        #expect(fault(at: Self.now - 3600) == .expired(3600))
    }
}
