/// One of the things that progress tells.
struct ProgressFact {
    var text: String
    /// Where there is little room.
    var short: String
    /// The higher, the longer it stays when there is too little room.
    var importance: Int

    init(_ text: String, short: String? = nil, importance: Int) {
        self.text = text
        self.short = short ?? text
        self.importance = importance
    }
}

/// Facts on one line.
enum ProgressFacts {
    /// As many facts as fit into the width, in their order: in full, else shortened, else without the least important
    /// ones. None is ever cut.
    static func fit(_ facts: [ProgressFact], width: Int) -> String {
        let full = facts.map(\.text).joined(separator: ", ")
        if full.count <= width { return full }
        var left = facts
        while true {
            let text = left.map(\.short).joined(separator: ", ")
            if text.count <= width { return text }
            guard let least = left.indices.min(by: { left[$0].importance < left[$1].importance }) else { return "" }
            left.remove(at: least)
        }
    }
}
