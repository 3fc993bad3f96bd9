import APNSBatchModel
import APNSBatchRows

/// The input of a run: its name, and where its bytes come from.
package struct RunInput: Sendable {
    /// The name in messages.
    package let name: String
    /// The path by which another process can open the input; nil if there is none.
    package let path: String?
    let location: InputLocation

    package init(_ input: CampaignInput) {
        switch input {
        case .file(let path): (name, self.path, location) = (path, path, .file(path))
        case .standardInput: (name, path, location) = ("<stdin>", nil, .standardInput)
        }
    }

    /// The rows that a program makes.
    package init(_ rows: RowPipe) { (name, path, location) = (Self.nameOfProgram, nil, .program(rows)) }

    /// Rows that are kept while they are read.
    package init(_ rows: SpooledSource, name: String = nameOfProgram) {
        (self.name, path, location) = (name, nil, .spooled(rows))
    }

    package static let nameOfProgram = "<rows>"

    /// The rows that are kept; nil if none are.
    package var spooled: SpooledSource? { if case .spooled(let source) = location { source } else { nil } }

    var isFile: Bool { path != nil }
}
