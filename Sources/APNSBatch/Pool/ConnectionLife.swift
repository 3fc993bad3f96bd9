/// How many requests a connection serves before its server says GOAWAY, as its predecessors tell: 1,000 at nginx, unless it
/// is configured otherwise. Pure.
struct ConnectionLife: Equatable {
    /// Nil until two connections in a row served about as many.
    private(set) var requests: Int?
    private var last = 0

    /// A connection ended by a GOAWAY without an error.
    mutating func ended(served: Int) {
        let (less, more) = (min(served, last), max(served, last))
        requests = less > 0 && more - less <= more / 8 ? less : nil
        last = served
    }

    /// A connection serves more than those before it did.
    mutating func outlived() { self = ConnectionLife() }
}
