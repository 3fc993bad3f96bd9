import APNSBatchBasics
import APNSBatchModel
import APNSBatchRows
import Logging

/// The input of a run: its name, and where its bytes come from.
package struct RunInput: Sendable {
    /// The name in messages.
    package let name: String
    /// The path by which another process can open the input; nil if there is none.
    package let path: String?
    package let location: InputLocation
    /// Which file has which line; nil unless there are several files.
    package private(set) var parts: InputParts?
    private var escapeOfOrigin: Campaign.Escape?
    /// Whether the bytes are in the run directory and not where they came from.
    package private(set) var isCopy = false

    /// - Parameter logger: Receives what a program writes to standard error; nil to let it write to that of this process.
    package init(_ input: CampaignInput, logger: Logger? = nil) throws(CampaignError) {
        switch input {
        case .file(let path): (name, self.path, location) = (path, Self.readableAgain(path), .file(path))
        case .files(let paths) where paths.count == 1:
            (name, path, location) = (paths[0], Self.readableAgain(paths[0]), .file(paths[0]))
        case .files(let paths):
            guard let first = paths.first else {
                throw CampaignError(.configuration, "input: expected at least one file, found none")
            }
            let parts = InputParts()
            name = "\(first)\(Self.more)\(paths.count - 1) more"
            (path, location, self.parts) = (nil, .files(paths, parts), parts)
        case .origin(let origin):
            (name, path, escapeOfOrigin) = (origin.name, nil, origin.escape)
            location = .origin(
                Origin(name) {
                    let bytes = try origin.open()
                    return Origin.Opened(next: { try bytes.next() }, cancel: { bytes.cancel() })
                })
        case .standardInput: (name, path, location) = ("<stdin>", nil, .standardInput)
        case .program(let arguments, let environment, let patience):
            guard let program = arguments.first, !program.isEmpty else {
                throw CampaignError(.configuration, "input command: expected a program and its arguments, found none")
            }
            var producer = Producer(arguments, environment: environment, patience: patience)
            if let logger = logger?.printable { producer.complain = { line in logger.warning("\(program): \(line)") } }
            (name, path, location) = ("<output of \(program)>", nil, .producer(producer))
        }
    }

    /// The path of a file, or of nothing; nil if it is that of a pipe, whose bytes come once.
    private static func readableAgain(_ path: String) -> String? {
        guard let kind = OpenFile.kind(of: path), !kind.isDisjoint(with: [.pipe, .fifo]) else { return path }
        return nil
    }

    /// A copy of an input.
    ///
    /// - Parameter name: The name of the input that was copied.
    /// - Parameter parts: Where its lines are from; nil if that is not known any more.
    package init(copy path: String, of name: String, parts: InputParts? = nil) {
        (self.name, self.path, location) = (name, path, .kept(path))
        self.parts = parts
        isCopy = true
    }

    /// The rows that a program makes.
    package init(_ rows: RowPipe) { (name, path, location) = (Self.nameOfProgram, nil, .program(rows)) }

    /// Rows that are kept while they are read.
    package init(_ rows: SpooledSource, name: String = nameOfProgram) {
        (self.name, path, location) = (name, nil, .spooled(rows))
    }

    package static let nameOfProgram = "<rows>"
    /// What follows the first of several files in their name.
    private static let more = " and "

    /// Whether a name is that of several files.
    package static func isOfSeveral(_ name: String) -> Bool {
        name.hasSuffix(" more") && !name.ranges(of: more).isEmpty
    }

    /// The name of the first file, or of the only one.
    var firstName: String {
        guard Self.isOfSeveral(name), let end = name.ranges(of: Self.more).last?.lowerBound else { return name }
        return String(name[..<end])
    }

    /// The rows that are kept; nil if none are.
    package var spooled: SpooledSource? { if case .spooled(let source) = location { source } else { nil } }

    package var isFile: Bool { path != nil }

    /// The paths of its files, in the order of their rows; empty for an input of another kind.
    package var paths: [String] {
        switch location {
        case .file(let path): [path]
        case .files(let paths, _): paths
        case .kept, .descriptor, .producer, .origin, .program, .spooled: []
        }
    }

    /// Whether it has a time of modification; that of several files is the earliest.
    var hasAge: Bool { isFile || parts != nil }

    /// Whether its bytes can be copied before rows are sent; not those that a program makes while they are.
    package var canBeCopied: Bool { !isMadeByProgram }

    /// Whether opening it starts what makes its bytes, so that they may be other ones each time.
    package var isProduced: Bool {
        switch location {
        case .producer, .origin: true
        case .file, .kept, .files, .descriptor, .program, .spooled: false
        }
    }

    /// How CSV of it escapes quotes; nil for the setting of the campaign.
    var escape: Campaign.Escape? { isMadeByProgram ? Campaign.Escape.none : escapeOfOrigin }

    /// Whether this process makes the rows while they are sent.
    var isMadeByProgram: Bool {
        switch location {
        case .file, .kept, .files, .descriptor, .producer, .origin: false
        case .program, .spooled: true
        }
    }
}
