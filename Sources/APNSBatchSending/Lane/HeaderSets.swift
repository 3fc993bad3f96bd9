import APNSBatchNotification
import APNSBatchRows
import APNSBatchTransport

/// The header sets of a lane: one for each topic, push type and priority that rows ask for. The first is the campaign's
/// own; the others are made when a row first needs them and then found by the row's bytes.
package struct HeaderSets {
    package struct Entry {
        let number: UInt16
        package let pushType: PushType
        /// Nil for the push type's own.
        package let priority: Priority?
        /// Of rows without one of their own; nil to leave it out.
        package let expiration: Expiration?
        let payloadLimit: Int
        /// Who sends for its topic.
        let provider: UInt8
        /// The push type as whose topic this one ends, where that is another than its own.
        let otherType: PushType?
    }

    /// What a row needs.
    package enum Found {
        case set(Entry)
        case fault(FieldFault, column: Int)
        case noProvider(topic: String, column: Int)
        case wrongCredentials(PushType, column: Int)
        case tooMany
    }

    /// What makes a set: the row's own values, and the campaign's where it has none.
    private struct Kind {
        var topic: String
        var pushType: PushType
        var priority: Priority?
    }

    /// As many as the core has numbers for.
    static let limit = 4096

    private let defaults: HeaderDefaults
    private let roles: ColumnRoles
    private let topics: ProviderTopics
    private var keys: SeenValues
    private var entries: [Entry] = []
    /// Sets that the core does not know yet.
    package private(set) var unsent: [(number: UInt16, fields: [HeaderFieldBytes])] = []
    /// The set of rows without columns of their own; nil when rows have such columns.
    private var fixed: Entry?

    init(_ defaults: HeaderDefaults, roles: ColumnRoles, topics: ProviderTopics) {
        self.defaults = defaults
        self.roles = roles
        self.topics = topics
        keys = SeenValues(limit: Self.limit)
        guard roles.hasFixedHeaders, let topic = defaults.topic else { return }
        let kind = Kind(topic: topic, pushType: defaults.pushType, priority: defaults.priority)
        // The plan has seen that there is a provider.
        if case .set(let entry) = define(kind, column: roles.token) { fixed = entry }
    }

    /// The set for a row.
    package mutating func find(_ row: Row) -> Found {
        if let fixed { return .set(fixed) }
        let values = (field(roles.topic, row), field(roles.pushType, row), field(roles.priority, row))
        if let number = keys.find(values) { return .set(entries[number]) }
        guard !keys.isFull else { return .tooMany }
        let found = make(row)
        if case .set = found { keys.add(values) }
        return found
    }

    /// The core knows them now.
    package mutating func didSend() { unsent.removeAll() }

    private func field(_ column: Int?, _ row: Row) -> UnsafeRawBufferPointer {
        column.map { row.fields[$0] } ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private mutating func make(_ row: Row) -> Found {
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
        return define(
            Kind(topic: topic, pushType: pushType, priority: priority),
            column: roles.topic ?? roles.pushType ?? roles.token)
    }

    /// Makes the next set.
    private mutating func define(_ kind: Kind, column: Int) -> Found {
        let topic = Topic.derive(bundleID: kind.topic, pushType: kind.pushType)
        guard let provider = topics.provider(of: topic) else { return .noProvider(topic: topic, column: column) }
        guard topics.mayAuthenticate(kind.pushType, provider: provider) else {
            return .wrongCredentials(kind.pushType, column: roles.pushType ?? column)
        }
        let entry = Entry(
            number: UInt16(entries.count), pushType: kind.pushType, priority: kind.priority,
            expiration: defaults.expiration(of: kind.pushType), payloadLimit: defaults.payloadLimit(of: kind.pushType),
            provider: UInt8(provider),
            otherType: Topic.otherType(of: kind.topic, pushType: kind.pushType))
        let fields = defaults.fields(topic: topic, pushType: kind.pushType, priority: kind.priority)
        unsent.append((entry.number, fields.map(\.bytes)))
        entries.append(entry)
        return .set(entry)
    }

    /// A row's own value; nil when it has no such column or leaves it empty.
    private func value(_ column: Int?, of row: Row) -> (Int, UnsafeRawBufferPointer)? {
        guard let column, !row.fields[column].isEmpty else { return nil }
        return (column, row.fields[column])
    }
}
