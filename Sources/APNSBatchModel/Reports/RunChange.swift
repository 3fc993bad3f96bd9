/// Something that an operator changed while a run went on, such as its rate.
public struct RunChange: Sendable, Equatable, Codable {
    /// When it was changed, in seconds since 1970-01-01 00:00 UTC.
    public var time: UInt64
    /// The new state, such as `rate 500/s`, `paused` or `continued`.
    public var text: String

    /// Creates a change.
    public init(time: UInt64, text: String) {
        self.time = time
        self.text = text
    }
}
