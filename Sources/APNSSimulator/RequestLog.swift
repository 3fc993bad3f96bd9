/// The requests that arrived last, up to a number of them.
struct RequestLog {
    private var kept: [Simulator.Request] = []
    /// The index of the oldest request in `kept`.
    private var oldest = 0
    private let capacity: Int
    /// The number of requests that arrived.
    private(set) var total = 0

    init(capacity: Int) { self.capacity = capacity }

    /// The number of requests that arrived and are not kept any more.
    var forgotten: Int { total - kept.count }

    /// Those that are kept, in the order in which they arrived.
    var requests: [Simulator.Request] { Array(kept[oldest...] + kept[..<oldest]) }

    /// Numbers and keeps a request, in place of the oldest one if there is no room.
    mutating func append(_ request: Simulator.Request) {
        var request = request
        total += 1
        request.number = total
        if kept.count < capacity {
            kept.append(request)
        } else if capacity > 0 {
            kept[oldest] = request
            oldest = (oldest + 1) % capacity
        }
    }
}
