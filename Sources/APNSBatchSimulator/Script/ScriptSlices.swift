import APNSBatchBasics

/// The rules of a script in the form that is used for each request, with the bound of each slice and its answer.
struct ScriptSlices {
    private struct Slice {
        /// The end of the slice in [0, 1]. It belongs to the next slice.
        var bound: Double
        /// The number of requests of a token to which the rule applies.
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

    /// Returns the index of the rule for a token, or -1 for none.
    ///
    /// - Parameters:
    ///   - token: the device token in lower case.
    ///   - earlier: the number of earlier requests for this token that passed every check.
    @inline(__always)
    func rule(for token: Bytes, earlier: UInt32) -> Int {
        if slices.isEmpty { return -1 }
        let place = unsafe Self.place(token, state: state)
        guard let index = slices.firstIndex(where: { place < $0.bound }) else { return -1 }
        return earlier < slices[index].times ? index : -1
    }

    /// Returns a token's number in [0, 1), which is the upper 53 bits of its mixed hash.
    @inline(__always)
    static func place(_ token: Bytes, state: UInt64) -> Double {
        unsafe Double(FNV1a.spread(FNV1a.hash(token, from: state)) >> 11) * 0x1p-53
    }
}
