/// The known keys that a mistyped one most likely means.
enum NearestKeys {
    /// Those that are equally near, three at most: letters changed, or a part of the name left out or added.
    static func find(_ key: String, in known: [String]) -> [String] {
        let wanted = Array(key.lowercased().utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 })
        let distances = known.map { ($0, distance(wanted, Array($0.utf8))) }
        let least = distances.map(\.1).min() ?? .max
        if least <= max(1, wanted.count / 3) {
            return distances.filter { $0.1 == least }.prefix(3).map(\.0)
        }
        let parts = Set(wanted.split(separator: UInt8(ascii: "_")))
        let sharing = known.filter { !parts.isDisjoint(with: Array($0.utf8).split(separator: UInt8(ascii: "_"))) }
        return sharing.count <= 3 ? sharing : []
    }

    /// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
    private static func distance(_ from: [UInt8], _ to: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...to.count)
        for (row, letter) in from.enumerated() {
            var current = [row + 1]
            for (index, other) in to.enumerated() {
                var best = min(last[index + 1] + 1, current[index] + 1, last[index] + (letter == other ? 0 : 1))
                if row > 0, index > 0, letter == to[index - 1], from[row - 1] == other {
                    best = min(best, beforeLast[index - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[to.count]
    }
}
