import APNSBatchBasics
import Testing

@testable import APNSBatchSimulator

@Suite("Provider token check")
struct ProviderTokenCheckTests {
    static let hour: Int64 = 3_600_000
    static let minute: Int64 = 60_000
    let authority: TestAuthority

    init() throws {
        authority = try TestAuthority()
    }

    func answer(_ authorization: String, now: Int64 = TestAuthority.now) -> String {
        var check = ProviderTokenCheck(keys: [authority.providerKey], limits: .init())
        var connection = ConnectionIdentity()
        return check.answer(authorization, on: &connection, now: now)
    }

    /// The header and the claims of a token; nil stands for valid ones.
    static let malformed: [(String?, String?)] = [
        (#"{"alg":"HS256","kid":"ABC123DEFG"}"#, nil), (#"{"alg":"none","kid":"ABC123DEFG"}"#, nil),
        (#"{"alg":"es256","kid":"ABC123DEFG"}"#, nil), (#"{"kid":"ABC123DEFG"}"#, nil), (#"{"alg":"ES256"}"#, nil),
        (#"{"alg":"ES256","kid":"ABC123DEFX"}"#, nil), (#"{"alg":"ES256","kid":5}"#, nil),
        (#"{"alg":["ES256"],"kid":"ABC123DEFG"}"#, nil), ("[]", nil), ("", nil),
        (#"{"alg":"ES256","kid":"ABC123DEFG""#, nil), (#"{"alg":"ES256","kid":"ABC123DEFG"} x"#, nil),
        (nil, #"{"iss":"TEAM000002","iat":1700000000}"#), (nil, #"{"iss":"","iat":1700000000}"#),
        (nil, #"{"iat":1700000000}"#), (nil, #"{"iss":"TEAM000001"}"#), (nil, #"{"iss":7,"iat":1700000000}"#),
        (nil, #"{"iss":"TEAM000001","iat":"1700000000"}"#), (nil, #"{"iss":"TEAM000001","iat":null}"#),
        (nil, #"{"iss":"TEAM000001","iat":1e300}"#), (nil, #"{"iss":"TEAM000001","iat":-1e300}"#),
        (nil, #"{"iss":"TEAM000001","iat":1700000061}"#), (nil, #"{"iss":"TEAM000001","iat":1700003600}"#), (nil, "1"),
        (nil, #"{"iss":"TEAM000001","iat":01}"#),
    ]

    @Test("A correctly signed token with a wrong part is refused", arguments: malformed)
    func wrongPart(_ header: String?, _ claims: String?) throws {
        #expect(answer(try authority.authorization(header: header, claims: claims)) == "403 InvalidProviderToken")
    }

    @Test(
        "Additional members, blanks and a number with a fraction are accepted",
        arguments: [
            (#"{"typ":"JWT","alg":"ES256","kid":"ABC123DEFG"}"#, nil),
            (#"{ "alg" : "ES256" , "kid" : "ABC123DEFG" }"#, nil),
            (nil, #"{"iss":"TEAM000001","iat":1700000000.25}"#), (nil, #"{"iss":"TEAM000001","iat":1.7e9}"#),
            (nil, #"{"iss":"TEAM000001","iat":1699999999,"exp":1,"x":{"iat":[]}}"#),
        ] as [(String?, String?)])
    func tolerant(_ header: String?, _ claims: String?) throws {
        #expect(answer(try authority.authorization(header: header, claims: claims)) == "200")
    }

    @Test(
        "Base64url is read without padding, in its canonical form only",
        arguments: [
            ("", []), ("Zg", [0x66]), ("Zm8", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]), ("-_8", [0xFB, 0xFF]),
            ("Z", nil), ("Zh", nil), ("Zm9", nil), ("Zg==", nil), ("+/8", nil), ("Zm9vZ", nil), ("Zm 9", nil),
        ] as [(String, [UInt8]?)])
    func base64(_ text: String, _ expected: [UInt8]?) {
        #expect(Array(text.utf8).withUnsafeBytes { Base64.decodeURL($0) } == expected)
    }

    @Test("The scheme name is accepted in either case")
    func scheme() throws {
        let token = try authority.token()
        #expect(answer("Bearer \(token)") == "200")
        #expect(answer("BEARER  \(token)") == "200")
        #expect(answer("beerer \(token)") == "403 InvalidProviderToken")
        #expect(answer("bearer:\(token)") == "403 InvalidProviderToken")
        #expect(answer(token) == "403 InvalidProviderToken")
    }

    @Test("A token with any character changed is refused")
    func tampered() throws {
        let token = Array(try authority.token())
        #expect(answer("bearer " + String(token)) == "200")
        for index in token.indices {
            var changed = token
            changed[index] = token[index] == "A" ? "B" : "A"
            #expect(answer("bearer " + String(changed)) == "403 InvalidProviderToken", "at \(index)")
        }
    }

    @Test("A token that is cut or lengthened anywhere is refused")
    func lengths() throws {
        let token = try authority.token()
        for length in 1..<token.count {
            #expect(answer("bearer " + token.prefix(length)) == "403 InvalidProviderToken")
        }
        for end in ["A", "=", ".", ".AAAA", " ", "\n", String(repeating: "A", count: 5000)] {
            #expect(answer("bearer " + token + end) == "403 InvalidProviderToken")
        }
    }

    @Test("A token signed by another key of the same name is refused")
    func otherKey() throws {
        let other = try TestAuthority()
        #expect(answer(try other.authorization()) == "403 InvalidProviderToken")
    }

    @Test("A token expires after an hour, to the millisecond, also when it is cached")
    func expiry() throws {
        var check = ProviderTokenCheck(keys: [authority.providerKey], limits: .init())
        var connection = ConnectionIdentity()
        let authorization = try authority.authorization()
        for (age, expected) in [
            (0, "200"), (Self.hour - 1, "200"), (Self.hour, "200"), (Self.hour + 1, "403 ExpiredProviderToken"),
            (0, "200"), (30 * Self.hour, "403 ExpiredProviderToken"),
        ] {
            #expect(check.answer(authorization, on: &connection, now: TestAuthority.now + age) == expected)
        }
    }

    @Test("A token from the future is accepted within the tolerance")
    func future() throws {
        let authorization = try authority.authorization()
        #expect(answer(authorization, now: TestAuthority.now - Self.minute) == "200")
        #expect(answer(authorization, now: TestAuthority.now - Self.minute - 1) == "403 InvalidProviderToken")
    }

    @Test("A connection may change its token once in twenty minutes")
    func updates() throws {
        var check = ProviderTokenCheck(keys: [authority.providerKey], limits: .init())
        var (one, other) = (ConnectionIdentity(), ConnectionIdentity())
        let now = TestAuthority.now
        let tokens = try (0..<3).map { try authority.authorization(issuedAt: now / 1000 - Int64($0)) }
        #expect(check.answer(tokens[0], on: &one, now: now) == "200")
        #expect(check.answer(tokens[1], on: &one, now: now + 20 * Self.minute - 1) == "429 TooManyProviderTokenUpdates")
        #expect(check.answer(tokens[0], on: &one, now: now + 20 * Self.minute - 1) == "200")
        #expect(check.answer(tokens[1], on: &other, now: now + 1) == "200")
        #expect(check.answer(tokens[1], on: &one, now: now + 20 * Self.minute) == "200")
        #expect(check.answer(tokens[2], on: &one, now: now + 20 * Self.minute) == "429 TooManyProviderTokenUpdates")
        #expect(check.answer(tokens[0], on: &one, now: now + 21 * Self.minute) == "429 TooManyProviderTokenUpdates")
        #expect(check.answer(tokens[1], on: &one, now: now + 39 * Self.minute) == "200")
        #expect(check.answer(tokens[2], on: &one, now: now + 40 * Self.minute) == "200")
    }

    @Test("A wrong token does not count as an update")
    func wrongBetween() throws {
        var check = ProviderTokenCheck(keys: [authority.providerKey], limits: .init())
        var connection = ConnectionIdentity()
        let right = try authority.authorization()
        #expect(check.answer("bearer a.b.c", on: &connection, now: TestAuthority.now) == "403 InvalidProviderToken")
        #expect(check.answer(right, on: &connection, now: TestAuthority.now) == "200")
        #expect(check.answer("bearer a.b.c", on: &connection, now: TestAuthority.now) == "403 InvalidProviderToken")
        #expect(check.answer(right, on: &connection, now: TestAuthority.now) == "200")
    }

    @Test("A connection is limited to one team and one of its keys, and mixed connections are counted once")
    func teams() throws {
        let second = try TestAuthority(keyID: "SECONDKEY0", teamID: authority.teamID)
        let foreign = try TestAuthority(keyID: "FOREIGNKEY", teamID: "TEAM000002")
        var check = ProviderTokenCheck(
            keys: [authority, second, foreign].map(\.providerKey),
            limits: .init(lifetimeMilliseconds: Self.hour, updateIntervalMilliseconds: 0, clockToleranceMilliseconds: 0)
        )
        var (one, other) = (ConnectionIdentity(), ConnectionIdentity())
        #expect(check.answer(try authority.authorization(), on: &one, now: TestAuthority.now) == "200")
        #expect(
            check.answer(try foreign.authorization(), on: &one, now: TestAuthority.now) == "403 InvalidProviderToken")
        #expect(
            check.answer(try foreign.authorization(), on: &one, now: TestAuthority.now) == "403 InvalidProviderToken")
        #expect(
            check.answer(try second.authorization(), on: &one, now: TestAuthority.now) == "403 UnrelatedKeyIdInToken")
        #expect(check.connectionsWithTwoTeams == 1)
        #expect(check.answer(try foreign.authorization(), on: &other, now: TestAuthority.now) == "200")
        #expect(
            check.answer(try second.authorization(), on: &other, now: TestAuthority.now) == "403 InvalidProviderToken")
        #expect(check.connectionsWithTwoTeams == 2)
    }

    @Test("A key of the other environment is refused")
    func environment() throws {
        var key = authority.providerKey
        key.isOfOtherEnvironment = true
        var check = ProviderTokenCheck(keys: [key], limits: .init())
        var connection = ConnectionIdentity()
        let token = try authority.authorization()
        #expect(check.answer(token, on: &connection, now: TestAuthority.now) == "403 BadEnvironmentKeyIdInToken")
    }

    @Test("A connection's token is recognised again after many others")
    func eviction() throws {
        var check = ProviderTokenCheck(keys: [authority.providerKey], limits: .init())
        var connection = ConnectionIdentity()
        let right = try authority.authorization()
        #expect(check.answer(right, on: &connection, now: TestAuthority.now) == "200")
        for number in 0..<200 {
            var other = ConnectionIdentity()
            #expect(check.answer("bearer x\(number)", on: &other, now: TestAuthority.now) == "403 InvalidProviderToken")
        }
        #expect(check.answer(right, on: &connection, now: TestAuthority.now) == "200")
    }
}

extension ProviderTokenCheck {
    fileprivate mutating func answer(_ text: String, on connection: inout ConnectionIdentity, now: Int64) -> String {
        Array(text.utf8).withUnsafeBytes { APNSBatchSimulatorTests.text(answer($0, on: &connection, now: now)) }
    }
}
