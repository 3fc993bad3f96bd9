/// A column of an input whose rows name their fields: its name, and the keys that lead to its value.
package struct JSONColumn: Sendable, Equatable {
    package let name: String
    /// The keys from the outermost on. A number also picks an element of an array, from 0. At least one, and at most ``depthMax``.
    package let path: [String]
    /// Whether a campaign needs it, so that rows are looked at until one has it.
    package let isNeeded: Bool

    /// The largest number of keys that lead to a value.
    package static let depthMax = 16

    package init(_ name: String, path: [String]? = nil, isNeeded: Bool = false) {
        (self.name, self.path, self.isNeeded) = (name, path ?? [name], isNeeded)
    }
}
