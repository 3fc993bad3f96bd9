extension RunTimeline {
    /// Returns the indices of points from which a plot of a figure looks like one of all points, but is small: the points are
    /// divided into parts of equal length, and each part gives its point with the least value and the one with the greatest.
    /// No peak is lost, however short it is.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of indices, at least 2.
    ///   - figure: Returns the value of the point at an index; nil if it has none.
    /// - Returns: Indices in ascending order: all that have a value, if there are no more of them than `limit`.
    public func extremes(limit: Int = 1000, of figure: (_ index: Int) -> Double?) -> [Int] {
        let values = indices.compactMap { index in figure(index).map { (index: index, value: $0) } }
        guard values.count > limit else { return values.map(\.index) }
        let parts = Swift.max(1, limit / 2)
        return (0..<parts).flatMap { part in
            let slice = values[(values.count * part / parts)..<(values.count * (part + 1) / parts)]
            let least = slice.min { $0.value < $1.value }
            let greatest = slice.max { $0.value < $1.value }
            return Set([least, greatest].compactMap { $0?.index }).sorted()
        }
    }
}
