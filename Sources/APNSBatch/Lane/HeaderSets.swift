import APNSProtocol
import CSVReader
import LaneTransport

/// The header sets of a lane: one for each topic, push type and priority that rows ask for. The first is the campaign's
/// own; the others are made when a row first needs them and then found by the row's bytes.
struct HeaderSets {
    struct Entry {
        let number: UInt16
        let pushType: PushType
        let payloadLimit: Int
    }

    /// What a row needs.
    enum Found {
        case set(Entry)
        case fault(FieldFault, column: Int)
        case tooMany
    }

    /// As many as the core has numbers for.
    static let limit = 4096

    private let defaults: HeaderDefaults
    private let roles: ColumnRoles
    private var known: [[UInt8]: Entry] = [:]
    /// Sets that the core does not know yet.
    private(set) var unsent: [(number: UInt16, fields: [HeaderFieldBytes])] = []
    /// The set of rows without columns of their own; nil when rows have such columns.
    private let fixed: Entry?

    init(_ defaults: HeaderDefaults, roles: ColumnRoles) {
        self.defaults = defaults
        self.roles = roles
        guard roles.hasFixedHeaders, let topic = defaults.topic else {
            fixed = nil
            return
        }
        fixed = Entry(number: 0, pushType: defaults.pushType, payloadLimit: defaults.pushType.payloadLimit)
        unsent = [
            (0, Self.fields(defaults, topic: topic, pushType: defaults.pushType, priority: defaults.priority))
        ]
    }

    /// The set for a row.
    mutating func find(_ row: CSVRow) -> Found {
        if let fixed { return .set(fixed) }
        let key = key(of: row)
        if let entry = known[key] { return .set(entry) }
        return make(row, key: key)
    }

    /// The core knows them now.
    mutating func didSend() { unsent.removeAll() }

    /// The row's three values with their lengths, so that no two rows are mistaken for each other.
    private func key(of row: CSVRow) -> [UInt8] {
        var key: [UInt8] = []
        for column in [roles.topic, roles.pushType, roles.priority] {
            let value = column.map { row.fields[$0] } ?? UnsafeRawBufferPointer(start: nil, count: 0)
            key.append(UInt8(truncatingIfNeeded: value.count))
            key.append(UInt8(truncatingIfNeeded: value.count >> 8))
            key.append(contentsOf: value)
        }
        return key
    }

    private mutating func make(_ row: CSVRow, key: [UInt8]) -> Found {
        var pushType = defaults.pushType
        if let (column, value) = value(roles.pushType, of: row) {
            switch PushType.parse(value) {
            case .success(let type): pushType = type
            case .failure(let fault): return .fault(fault, column: column)
            }
        }
        var priority = defaults.priority
        if let (column, value) = value(roles.priority, of: row) {
            switch Priority.parse(value) {
            case .success(let number): priority = number
            case .failure(let fault): return .fault(fault, column: column)
            }
        }
        if let priority, let fault = pushType.check(priority) {
            return .fault(fault, column: roles.priority ?? roles.pushType ?? roles.token)
        }
        var topic = defaults.topic
        if let (column, value) = value(roles.topic, of: row) {
            if let fault = Topic.check(value) { return .fault(fault, column: column) }
            topic = String(decoding: value, as: UTF8.self)
        }
        guard let topic else { return .fault(.topicEmpty, column: roles.topic ?? roles.token) }
        guard known.count < Self.limit else { return .tooMany }
        let entry = Entry(
            number: UInt16(known.count), pushType: pushType, payloadLimit: pushType.payloadLimit)
        unsent.append(
            (entry.number, Self.fields(defaults, topic: topic, pushType: pushType, priority: priority)))
        known[key] = entry
        return .set(entry)
    }

    /// A row's own value; nil when it has no such column or leaves it empty.
    private func value(_ column: Int?, of row: CSVRow) -> (Int, UnsafeRawBufferPointer)? {
        guard let column, !row.fields[column].isEmpty else { return nil }
        return (column, row.fields[column])
    }

    private static func fields(
        _ defaults: HeaderDefaults, topic: String, pushType: PushType, priority: Priority?
    ) -> [HeaderFieldBytes] {
        DeviceRequestHeaders.fixed(
            authority: defaults.authority, topic: Topic.derive(bundleID: topic, pushType: pushType), pushType: pushType,
            priority: priority
        ).map(\.bytes)
    }
}

extension HeaderField {
    /// As the core takes it.
    var bytes: HeaderFieldBytes {
        HeaderFieldBytes(name: Array(name.utf8), value: Array(value.utf8), indexing: UInt32(indexing.rawValue))
    }
}
