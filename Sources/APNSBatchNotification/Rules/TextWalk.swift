import APNSBatchBasics

/// Finds what ``SuspectText`` reports, and nulls outside `aps`, in all of a payload, with their paths. It is slow.
struct TextWalk {
    private var scanner: JSONScanner
    private let looksAtTexts: Bool
    private var path: [JSONPathStep] = []
    private var findings: [LocatedFinding] = []

    /// Returns the findings in the order of their places.
    ///
    /// - Parameter texts: Whether to look at strings, and not only for nulls.
    static func findings(_ payload: UnsafeRawBufferPointer, texts: Bool) -> [LocatedFinding] {
        var walk = unsafe TextWalk(scanner: JSONScanner(payload, top: .object), looksAtTexts: texts)
        walk.run()
        return walk.findings
    }

    private init(scanner: JSONScanner, looksAtTexts: Bool) {
        (self.scanner, self.looksAtTexts) = (scanner, looksAtTexts)
    }

    private mutating func run() {
        while true {
            let token = scanner.next()
            if token == .end || token == .fault { return }
            path.follow(token, scanner)
            if token == .string, looksAtTexts { judge(scanner.text) }
            if token == .literal, unsafe scanner.token.first == UInt8(ascii: "n"), !isIn(["aps"]) {
                add(.nullValue, "found null, which not every app survives; leave the key out")
            }
        }
    }

    private mutating func judge(_ text: String) {
        let setting = SuspectText.Setting(isShown: isIn(["aps", "alert"]))
        let message = unsafe Array(text.utf8).withUnsafeBytes { bytes in
            unsafe SuspectText.find(bytes, setting).map { unsafe $0.message(in: bytes) }
        }
        if let message { add(.suspectText, message) }
    }

    private func isIn(_ names: [String]) -> Bool {
        path.count >= names.count && names.indices.allSatisfy { path[$0] == .member(names[$0]) }
    }

    private mutating func add(_ rule: Rule, _ message: String) {
        findings.append(LocatedFinding(rule: rule, path: path.map(\.name), message: "\(path.text): \(message)"))
    }
}

/// A step on the way from the top of a payload to a value.
enum JSONPathStep: Equatable {
    case member(String)
    case element(Int)

    var name: String {
        switch self {
        case .member(let name): name
        case .element(let index): "[\(index)]"
        }
    }
}

extension [JSONPathStep] {
    /// The path as messages show it: `order.cards[0].n`; `payload` for the top.
    var text: String {
        var text = ""
        for step in self {
            if case .member = step, !text.isEmpty { text += "." }
            text += step.name
        }
        return text.isEmpty ? "payload" : text
    }

    /// Follows the tokens of a scanner. After a value, the path is its own; after the opening of an object or array, too.
    mutating func follow(_ token: JSONScanner.Token, _ scanner: JSONScanner) {
        switch token {
        case .end, .fault: break
        case .objectEnd, .arrayEnd: removeLast()
        case .key: self[count - 1] = unsafe .member(RuleWords.name(scanner.token))
        default:
            if case .element(let index) = last { self[count - 1] = .element(index + 1) }
            if token == .objectStart { append(.member("")) }
            if token == .arrayStart { append(.element(-1)) }
        }
    }
}
