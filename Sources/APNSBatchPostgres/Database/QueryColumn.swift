/// A column of a query, as the server describes it.
struct QueryColumn: Equatable {
    let name: String
    /// The OID of its type; that of the type below, if it is a domain.
    let type: UInt32
}
