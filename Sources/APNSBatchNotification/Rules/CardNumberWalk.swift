/// Every string, number and key of a payload that holds what may be a card's number, by its path. The slow way.
enum CardNumberWalk {
    static func findings(_ payload: UnsafeRawBufferPointer) -> [LocatedFinding] {
        var scanner = JSONScanner(payload, top: .object)
        var findings: [LocatedFinding] = []
        var path: [PathStep] = []
        while true {
            let token = scanner.next()
            switch token {
            case .end, .fault: return findings
            case .objectEnd, .arrayEnd: path.removeLast()
            case .key:
                let name = UnsafeBufferPointer(start: scanner.bytes + scanner.tokenStart, count: scanner.tokenCount)
                if isHeld(scanner) { findings.append(finding(path.dropLast())) }
                path[path.count - 1] = .member(RuleWords.name(name))
            default:
                if case .element(let index) = path.last { path[path.count - 1] = .element(index + 1) }
                if token == .objectStart { path.append(.member("")) }
                if token == .arrayStart { path.append(.element(-1)) }
                if token == .string || token == .number, isHeld(scanner) { findings.append(finding(path[...])) }
            }
        }
    }

    private enum PathStep {
        case member(String)
        case element(Int)

        var name: String {
            switch self {
            case .member(let name): name
            case .element(let index): "[\(index)]"
            }
        }
    }

    private static func isHeld(_ scanner: JSONScanner) -> Bool {
        // With the byte before and after it, as the search of the whole payload sees it.
        CardNumber.isHeld(
            in: UnsafeRawBufferPointer(start: scanner.bytes + scanner.tokenStart, count: scanner.tokenCount))
    }

    private static func finding(_ path: ArraySlice<PathStep>) -> LocatedFinding {
        var text = ""
        for step in path {
            if case .member = step, !text.isEmpty { text += "." }
            text += step.name
        }
        let message = "\(text.isEmpty ? "payload" : text): a number like a card's in clear text"
        return LocatedFinding(rule: .cardNumber, path: path.map(\.name), message: message)
    }
}
