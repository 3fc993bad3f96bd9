/// The time between two requests at a rate, and the generic cell rate algorithm (GCRA, ITU-T I.371) with it.
///
/// The algorithm has one number as its state: the *due time*, at which the next request would be sent if all were sent at
/// equal distances. A request may be sent up to the *tolerance* before it, and moves it on by the spacing. Time that passes
/// unused after the due time is lost, so that nothing is made up for. In any interval of w nanoseconds at most
/// (w + tolerance) / spacing + 1 requests are possible.
///
/// A due time is in sixteenths of a nanosecond, so that it fits into one atomic word for 36 years after the start of the
/// system. Spacings are rounded up, so that no rate is exceeded.
struct RequestSpacing: Equatable {
    /// The spacing in 2⁻¹⁶ nanoseconds, at least 1.
    let bits: UInt64

    /// The time whose requests may be sent at once, in nanoseconds. It is also the longest time by which a lane may be late
    /// without losing any request. It is a millisecond less than the ten that are promised, because a lane reserves the
    /// requests of a turn before it renders and hands over the first of them.
    static let burst: UInt64 = 9_000_000

    private static let unitsPerNanosecond: UInt64 = 16
    private static let bitsPerUnit: UInt64 = 4096
    /// The longest spacing, of about three days.
    private static let most: UInt64 = .max - (1 << 46)

    init(bits: UInt64) { self.bits = max(1, min(bits, Self.most)) }

    /// The spacing of `requests` in this many nanoseconds, rounded up.
    init(_ requests: UInt64, in nanoseconds: UInt64) {
        let (high, low) = nanoseconds.multipliedFullWidth(by: Self.unitsPerNanosecond * Self.bitsPerUnit)
        let divisor = max(1, requests)
        let (quotient, remainder) = high < divisor ? divisor.dividingFullWidth((high, low)) : (Self.most, 0)
        self.init(bits: remainder == 0 ? quotient : quotient + 1)
    }

    init(perSecond rate: Double) {
        let bits = (1e9 * Double(Self.unitsPerNanosecond * Self.bitsPerUnit) / rate).rounded(.up)
        self.init(bits: bits < Double(Self.most) ? UInt64(bits) : Self.most)
    }

    /// The number of requests per second.
    var perSecond: Double { 1e9 * Double(Self.unitsPerNanosecond * Self.bitsPerUnit) / Double(bits) }

    /// The spacing of this many requests, in the unit of due times.
    private func span(_ requests: Int) -> UInt64 {
        let (high, low) = bits.multipliedFullWidth(by: UInt64(requests))
        guard high < Self.bitsPerUnit else { return .max / 2 }
        let (quotient, remainder) = Self.bitsPerUnit.dividingFullWidth((high, low))
        return remainder == 0 ? quotient : quotient + 1
    }

    /// How long before the due time a request may be sent, in the unit of due times: one request is always possible, and at a
    /// high rate those of ``burst``.
    private var tolerance: UInt64 {
        let (burst, one) = (Self.burst * Self.unitsPerNanosecond, span(1))
        return burst > one ? burst - one : 0
    }

    /// Returns how many requests may be sent now, at most `most`.
    ///
    /// - Parameter now: the monotonic time in nanoseconds.
    func allowed(_ most: Int, due: UInt64, now: UInt64) -> Int {
        let time = now &* Self.unitsPerNanosecond
        let (from, until) = (max(due, time), time + tolerance)
        guard from <= until, most > 0 else { return 0 }
        let further = ((until - from) &* Self.bitsPerUnit) / bits
        return Int(min(UInt64(most) - 1, further)) + 1
    }

    /// Returns the due time after this many requests that are sent now.
    func due(after requests: Int, due: UInt64, now: UInt64) -> UInt64 {
        requests == 0 ? due : max(due, now &* Self.unitsPerNanosecond) &+ span(requests)
    }

    /// Returns the time in nanoseconds from which on the next request may be sent.
    func next(due: UInt64) -> UInt64 {
        let time = due - min(due, tolerance)
        return (time + Self.unitsPerNanosecond - 1) / Self.unitsPerNanosecond
    }

    /// The time in nanoseconds that a due time stands for, rounded up.
    static func time(ofDue due: UInt64) -> UInt64 { due / unitsPerNanosecond + (due % unitsPerNanosecond > 0 ? 1 : 0) }
    static func due(at time: UInt64) -> UInt64 { time &* unitsPerNanosecond }
}
