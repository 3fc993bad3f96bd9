/// Suggests the known name that a mistyped name most likely stands for.
package enum NearestName {
    /// Returns the nearest name by edit distance, ignoring case, within a third of the name's length; nil if there is none.
    package static func find(_ name: String, in known: [String]) -> String? {
        all(name, in: known).first
    }

    /// Returns all names at the smallest distance, in the order of `known`.
    package static func all(_ name: String, in known: [String]) -> [String] {
        let wanted = Array(name.lowercased().unicodeScalars)
        let distances = known.map { distance(wanted, Array($0.lowercased().unicodeScalars)) }
        guard let least = distances.min(), least <= max(1, wanted.count / 3) else { return [] }
        return zip(known, distances).filter { $0.1 == least }.map(\.0)
    }

    /// Returns the number of insertions, deletions, replacements and swaps of neighbours that lead from one name to the
    /// other.
    private static func distance(_ from: [Unicode.Scalar], _ to: [Unicode.Scalar]) -> Int {
        var beforeLast = [Int]()
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
