import APNSBatchModel

/// What the colours of plots and tables mean: no colour means two things.
enum PlotColor: Hashable {
    /// A figure of the run, such as requests or connections.
    case figure
    /// Rows that ended like this. Those that are left have the colour of expired ones: both have not been sent.
    case outcome(Outcome)
    /// A limit, and being held back by it.
    case limit
    /// Held back because the run begins slowly: ramp and canary.
    case beginning
    /// Held back because the server refuses requests.
    case refusals
    /// Held back because the server takes no more at once: streams, flow-control windows.
    case capacity
    /// Held back because its answers are late.
    case lateness
    /// Held back by this machine: input and disk.
    case machine
    /// Paused by an operator.
    case paused
    /// Held back because nothing can be sent.
    case unreachable
    /// Times of answers, from the median to the slowest one: shades of one colour.
    case median
    case mostly
    case late
    case slowest

    /// The colours on light and dark paper. Each has a contrast of at least 3 to 1.
    var shades: (light: String, dark: String) {
        switch self {
        case .figure: ("#0b65c2", "#58a6ff")
        case .outcome(.accepted): ("#1a7f37", "#3fb950")
        case .outcome(.rejected): ("#b35900", "#f0883e")
        case .outcome(.unavailable): ("#8250df", "#bc8cff")
        case .outcome(.invalid): ("#c4242c", "#ff7b72")
        case .outcome(.unknown): ("#0a7c86", "#39c5cf")
        case .outcome(.expired): ("#6e7781", "#9198a1")
        case .outcome(.suppressed): ("#8a6d9e", "#c3a6d8")
        case .limit: ("#32383f", "#c9d1d9")
        case .beginning: ("#8f7300", "#e3c341")
        case .refusals: ("#bf3989", "#f778ba")
        case .capacity: ("#7a4b2a", "#c79a74")
        case .lateness: ("#6a8f00", "#a5d63a")
        case .machine: ("#3f5a5a", "#8fb3b3")
        case .paused: ("#8c959f", "#6e7681")
        case .unreachable: ("#82071e", "#ff4d6d")
        case .median: ("#0a3069", "#cae8ff")
        case .mostly: ("#2a5db0", "#80bfff")
        case .late: ("#4a90d9", "#3f8ae0")
        case .slowest: ("#8094ab", "#6d86a3")
        }
    }

    /// The definitions of all colours for a style sheet.
    static func variables(_ shade: (PlotColor) -> String) -> String {
        allCases.map { "--c\($0.number):\(shade($0))" }.joined(separator: ";")
    }

    /// The classes of all colours for a style sheet.
    static var classes: String { allCases.map { ".c\($0.number){color:var(--c\($0.number))}" }.joined() }

    /// That of what holds a run back.
    init(hold cause: String) {
        self =
            switch cause {
            case "rate limit": .limit
            case "ramp", "canary": .beginning
            case "pushback", "retries": .refusals
            case "all streams in use", "flow-control windows": .capacity
            case "late answers": .lateness
            case "input", "disk": .machine
            case "paused": .paused
            default: .unreachable
            }
    }

    /// That of an outcome, or of rows that are left.
    init(outcome name: String) { self = .outcome(Outcome(name: name) ?? .expired) }
}

extension PlotColor: CaseIterable {
    static let allCases: [PlotColor] =
        [.figure] + Outcome.allCases.map { .outcome($0) } + [
            .limit, .beginning, .refusals, .capacity, .lateness, .machine, .paused, .unreachable,
            .median, .mostly, .late, .slowest,
        ]

    private static let numbers = Dictionary(uniqueKeysWithValues: zip(allCases, 1...))

    /// The number in the style sheet.
    var number: Int { Self.numbers[self] ?? 0 }
}
