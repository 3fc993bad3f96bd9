/// The source of the rows of a campaign. Later versions may add cases.
@nonexhaustive
public enum CampaignInput: Sendable, Equatable {
    /// A CSV file, given by its path.
    case file(String)
    /// CSV files, given by their paths, whose rows follow each other in this order. Their header rows are equal. A run reads them to their end before the first
    /// push and keeps their rows, unless it is configured not to.
    case files([String])
    /// Standard input, in the same formats. A run reads it to its end before the first push and keeps it, unless it is configured not to.
    case standardInput
    /// What a program writes to standard output, in the same formats. Its first argument is the program, which is searched for in PATH unless it has a slash;
    /// no shell is involved. Its standard input is empty, and the lines that it writes to standard error are logged.
    ///
    /// A program that ends with an exit code other than 0, or by a signal, has failed, and so has the input. It is killed, together with what it
    /// started, when it has not ended after `patience`. A run reads it to its end before the first push and keeps its output, unless it
    /// is configured not to. Its variables are those of this process, unless they are given.
    case program([String], environment: [String: String]? = nil, patience: Duration = .seconds(3600))
    /// Bytes of another origin, such as a query of a database.
    case origin(any InputOrigin)

    /// Whether two inputs have the same origin. None of them is read.
    public static func == (one: CampaignInput, other: CampaignInput) -> Bool {
        switch (one, other) {
        case (.file(let one), .file(let other)): one == other
        case (.files(let one), .files(let other)): one == other
        case (.standardInput, .standardInput): true
        case (.program(let one, let first, let patience), .program(let other, let second, let otherPatience)):
            one == other && first == second && patience == otherPatience
        case (.origin(let one), .origin(let other)): one.isEqual(to: other)
        default: false
        }
    }
}
