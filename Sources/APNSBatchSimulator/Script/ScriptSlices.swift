import APNSBatchBasics

/// The rules of a script in the form used for each request: the bound of each slice, and the number of its answer.
struct ScriptSlices {
    private struct Slice {
        /// The end of the slice in [0, 1], which belongs to the next one.
        var bound: Double
        /// For how many requests of a token it holds.
        var times: UInt32
    }

    private var slices: [Slice] = []
    private let state: UInt64

    init(_ script: SimulatorScript) {
        state = FNV1a.state(seed: script.seed)
        var bound = 0.0
        for rule in script.rules {
            bound += rule.share
            slices.append(Slice(bound: bound, times: rule.times.map { UInt32(clamping: $0) } ?? .max))
        }
    }

    /// The number of the rule for a token, or -1 for none.
    ///
    /// - Parameters:
    ///   - token: in lower case.
    ///   - earlier: how many requests for this token passed every check before.
    @inline(__always)
    func rule(for token: Bytes, earlier: UInt32) -> Int {
        if slices.isEmpty { return -1 }
        let place = unsafe Self.place(token, state: state)
        guard let index = slices.firstIndex(where: { place < $0.bound }) else { return -1 }
        return earlier < slices[index].times ? index : -1
    }

    /// A token's place in [0, 1): the upper 53 bits of its hash, spread.
    @inline(__always)
    static func place(_ token: Bytes, state: UInt64) -> Double {
        unsafe Double(FNV1a.spread(FNV1a.hash(token, from: state)) >> 11) * 0x1p-53
    }
}
