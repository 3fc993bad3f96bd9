import Testing

@testable import APNSBatchNotification

@Suite("Provider token rotation")
struct ProviderTokenRotationTests {
    typealias Token = ProviderTokenRotation.Token
    static let start: Int64 = 1_767_225_600
    static let minute: Int64 = 60

    @Test("A token is made for the first connection, and the next one after 30 minutes")
    func minting() {
        var rotation = ProviderTokenRotation()
        let first = Token(number: 1, mintedAt: Self.start)
        let second = Token(number: 2, mintedAt: Self.start + 1800)
        #expect(rotation.connectionStarts(now: Self.start) == .mint(first))
        #expect(rotation.connectionStarts(now: Self.start) == .use(first))
        #expect(rotation.connectionStarts(now: Self.start + 1799) == .use(first))
        #expect(rotation.connectionStarts(now: Self.start + 1800) == .mint(second))
        #expect(rotation.connectionStarts(now: Self.start + 1801) == .use(second))
    }

    @Test("A connection keeps its token until the token is 52 minutes old")
    func retirement() {
        let rotation = ProviderTokenRotation()
        #expect(rotation.retirement(of: Token(number: 1, mintedAt: Self.start)) == Self.start + 3120)
    }

    @Test("A successor is opened half a minute before the limit, with a new token")
    func succession() {
        var rotation = ProviderTokenRotation()
        let first = Token(number: 1, mintedAt: Self.start)
        _ = rotation.connectionStarts(now: Self.start)
        let due = rotation.succession(of: first, now: Self.start)
        #expect(due == Self.start + 3090)
        #expect(rotation.connectionStarts(now: due) == .mint(Token(number: 2, mintedAt: due)))
    }

    @Test("A connection that started with an old token gets no successor before its end")
    func lateSuccession() {
        let rotation = ProviderTokenRotation()
        let old = Token(number: 1, mintedAt: Self.start)
        #expect(rotation.succession(of: old, now: Self.start + 3089) == Self.start + 3090)
        #expect(rotation.succession(of: old, now: Self.start + 3090) == Self.start + 3120)
    }

    @Test(
        "A successor gets a new token with other limits too",
        arguments: [(1, 2, 2), (1, 3, 2), (2, 4, 3), (10, 100, 70)])
    func otherLimits(mintAfter: Int64, retireAfter: Int64, due: Int64) {
        var rotation = ProviderTokenRotation(rule: .init(mintAfter: mintAfter, retireAfter: retireAfter))
        let first = Token(number: 1, mintedAt: Self.start)
        #expect(rotation.connectionStarts(now: Self.start) == .mint(first))
        #expect(rotation.retirement(of: first) == Self.start + retireAfter)
        #expect(rotation.succession(of: first, now: Self.start) == Self.start + due)
        #expect(
            rotation.connectionStarts(now: Self.start + due)
                == .mint(Token(number: 2, mintedAt: Self.start + due)))
    }

    @Test("A new token is made at once when one expired, once for all connections that used it")
    func expired() {
        var rotation = ProviderTokenRotation()
        let first = Token(number: 1, mintedAt: Self.start)
        _ = rotation.connectionStarts(now: Self.start)
        let later = Self.start + 25 * Self.minute
        #expect(rotation.expired(first, now: later) == .renewed)
        #expect(rotation.expired(first, now: later) == .renewed)
        let second = Token(number: 2, mintedAt: later)
        #expect(rotation.connectionStarts(now: later) == .mint(second))
        #expect(rotation.expired(first, now: later + 1) == .renewed)
        #expect(rotation.connectionStarts(now: later + 1) == .use(second))
    }

    @Test("The clock is reported as wrong when two fresh tokens in a row expired")
    func clock() {
        var rotation = ProviderTokenRotation()
        _ = rotation.connectionStarts(now: Self.start)
        #expect(rotation.expired(Token(number: 1, mintedAt: Self.start), now: Self.start + 1) == .renewed)
        #expect(rotation.connectionStarts(now: Self.start + 2) == .mint(Token(number: 2, mintedAt: Self.start + 2)))
        #expect(rotation.expired(Token(number: 2, mintedAt: Self.start + 2), now: Self.start + 3) == .clockWrong)
    }

    @Test("Old tokens that expired do not cause a report of a wrong clock")
    func oldTokens() {
        var rotation = ProviderTokenRotation()
        var now = Self.start
        for number in 1...5 {
            let token = Token(number: number, mintedAt: now)
            #expect(rotation.connectionStarts(now: now) == .mint(token))
            now += 61 * Self.minute
            #expect(rotation.expired(token, now: now) == .renewed)
        }
    }

    @Test("After too many updates no token is made for 20 minutes, and the old one stays in use while valid")
    func paused() {
        var rotation = ProviderTokenRotation()
        let first = Token(number: 1, mintedAt: Self.start)
        _ = rotation.connectionStarts(now: Self.start)
        let told = Self.start + 29 * Self.minute
        rotation.tooManyUpdates(now: told)
        rotation.tooManyUpdates(now: told + 5)
        #expect(rotation.connectionStarts(now: told + 2 * Self.minute) == .use(first))
        #expect(rotation.connectionStarts(now: told + 20 * Self.minute - 1) == .use(first))
        let again = told + 20 * Self.minute
        #expect(rotation.connectionStarts(now: again) == .mint(Token(number: 2, mintedAt: again)))
    }

    @Test("After too many updates, there is a new token nevertheless when the old one is too old")
    func goesOn() {
        var rotation = ProviderTokenRotation()
        let first = Token(number: 1, mintedAt: Self.start)
        _ = rotation.connectionStarts(now: Self.start)
        let told = Self.start + 45 * Self.minute
        rotation.tooManyUpdates(now: told)
        let end = Self.start + 52 * Self.minute
        #expect(rotation.connectionStarts(now: end - 1) == .use(first))
        #expect(rotation.connectionStarts(now: end) == .mint(Token(number: 2, mintedAt: end)))
    }

    @Test("No connection is opened while no token can be made and the old one has expired")
    func expiredWhilePaused() {
        var rotation = ProviderTokenRotation()
        _ = rotation.connectionStarts(now: Self.start)
        rotation.tooManyUpdates(now: Self.start + 10)
        #expect(rotation.expired(Token(number: 1, mintedAt: Self.start), now: Self.start + 11) == .renewed)
        #expect(rotation.connectionStarts(now: Self.start + 12) == .wait(until: Self.start + 1200))
        #expect(
            rotation.connectionStarts(now: Self.start + 1200) == .mint(Token(number: 2, mintedAt: Self.start + 1200)))
    }

    @Test("The current token stays in use when the clock is set back")
    func setBack() {
        var rotation = ProviderTokenRotation()
        _ = rotation.connectionStarts(now: Self.start)
        #expect(rotation.connectionStarts(now: Self.start - 10_000) == .use(Token(number: 1, mintedAt: Self.start)))
    }

    @Test("Both limits of Apple hold over a day of connections, also with short lifetimes")
    func day() {
        for scale in [60, 1] as [Int64] {
            let rule = ProviderTokenRotation.Rule(
                mintAfter: 30 * scale, retireAfter: 52 * scale, surelyValid: 20 * scale)
            var rotation = ProviderTokenRotation(rule: rule)
            var last: Int64?
            for now in stride(from: Self.start, to: Self.start + 24 * 60 * scale, by: 7) {
                switch rotation.connectionStarts(now: now) {
                case .mint(let token):
                    if let last { #expect(now - last >= 20 * scale) }
                    last = now
                    #expect(token.mintedAt == now)
                    #expect(rotation.retirement(of: token) - token.mintedAt < 60 * scale)
                case .use(let token):
                    #expect(now < rotation.retirement(of: token))
                case .wait:
                    Issue.record("nothing to wait for")
                }
            }
        }
    }
}
