import APNSBatchModel
import APNSBatchRows

/// What is known of an input before its first row is read.
package struct InputFacts: Sendable {
    /// The name of the input in messages.
    package let name: String
    /// Whether the input is a file, so that its size is known and another process can open it.
    package let isFile: Bool
    /// The columns by the names that the campaign uses.
    package let named: NamedColumns
    /// The names of the columns, in order.
    package var columns: [String] { named.names }
    /// The columns of the first rows, if there is no other source of the columns.
    package var first: FirstColumns?
    /// Which of several files has which line; nil for other inputs.
    package var parts: InputParts?
}

extension InputFacts {
    /// The notifications of a sender, as rows. They have no place in any file, so there is no name.
    package static func ofSender(to recipients: Campaign.Recipients) -> InputFacts {
        InputFacts(
            name: "", isFile: false,
            named: NamedColumns(recipients.areChannels ? ColumnRoles.namesOfBroadcasts : ColumnRoles.names))
    }
}
