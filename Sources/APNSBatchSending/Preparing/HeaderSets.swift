import APNSBatchNotification
import APNSBatchRows
import APNSBatchTransport

/// The header sets of a lane, one for each combination of topic, push type and priority. If rows have no columns for these,
/// there is only the campaign's own set. Otherwise a set is made when a row first needs it, and is then found by the values
/// in the row.
package struct HeaderSets {
    package struct Entry {
        let number: UInt16
        package let pushType: PushType
        /// Nil for the default of the push type.
        package let priority: Priority?
        /// The expiration of rows without one of their own; nil to omit the header field.
        package let expiration: Expiration?
        let payloadLimit: Int
        /// The number of the provider that covers the topic.
        let provider: UInt8
        /// The push type whose suffix the topic has, if it is another than `pushType`.
        let otherType: PushType?
    }

    /// The result of a search for a row's header set.
    package enum Found {
        case set(Entry)
        case fault(FieldFault, column: Int)
        case noProvider(topic: String, column: Int)
        case wrongCredentials(PushType, column: Int)
        case tooMany
    }

    /// The values that define a set: the row's own, and the campaign's where the row has none.
    private struct Kind {
        var topic: String
        var pushType: PushType
        var priority: Priority?
    }

    /// The largest number of sets, as many as the core has numbers for.
    static let limit = 4096

    private let defaults: HeaderDefaults
    private let roles: ColumnRoles
    private let topics: ProviderTopics
    private var keys: SeenValues
    private var entries: [Entry] = []
    /// Sets that have not been given to the core yet.
    package private(set) var unsent: [(number: UInt16, fields: [HeaderFieldBytes])] = []
    /// The set of all rows if they have no columns for its values; nil otherwise.
    private var fixed: Entry?

    init(_ defaults: HeaderDefaults, roles: ColumnRoles, topics: ProviderTopics) {
        self.defaults = defaults
        self.roles = roles
        self.topics = topics
        keys = SeenValues(limit: Self.limit)
        guard roles.hasFixedHeaders, let topic = defaults.topic else { return }
        let kind = Kind(topic: topic, pushType: defaults.pushType, priority: defaults.priority)
        // The plan has checked that a provider covers the topic.
        if case .set(let entry) = define(kind, column: roles.token) { fixed = entry }
    }

    /// Finds the set for a row, or makes it.
    package mutating func find(_ row: Row) -> Found {
        if let fixed { return .set(fixed) }
        let values = unsafe (field(roles.topic, row), field(roles.pushType, row), field(roles.priority, row))
        if let number = unsafe keys.find(values) { return .set(entries[number]) }
        guard !keys.isFull else { return .tooMany }
        let found = make(row)
        if case .set = found { unsafe keys.add(values) }
        return found
    }

    /// Notes that the core has all sets.
    package mutating func didSend() { unsent.removeAll() }

    private func field(_ column: Int?, _ row: Row) -> UnsafeRawBufferPointer {
        unsafe column.map { unsafe row.fields[$0] } ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private mutating func make(_ row: Row) -> Found {
        var pushType = defaults.pushType
        if let (column, value) = unsafe value(roles.pushType, of: row) {
            switch unsafe PushType.parse(value) {
            case .success(let type): pushType = type
            case .failure(let fault): return .fault(fault, column: column)
            }
        }
        var priority = defaults.priority
        if let (column, value) = unsafe value(roles.priority, of: row) {
            switch unsafe Priority.parse(value) {
            case .success(let number): priority = number
            case .failure(let fault): return .fault(fault, column: column)
            }
        }
        if let priority, let fault = pushType.check(priority) {
            return .fault(fault, column: roles.priority ?? roles.pushType ?? roles.token)
        }
        var topic = defaults.topic
        if let (column, value) = unsafe value(roles.topic, of: row) {
            if let fault = unsafe Topic.check(value) { return .fault(fault, column: column) }
            topic = unsafe String(decoding: value, as: UTF8.self)
        }
        guard let topic else { return .fault(.topicEmpty, column: roles.topic ?? roles.token) }
        return define(
            Kind(topic: topic, pushType: pushType, priority: priority),
            column: roles.topic ?? roles.pushType ?? roles.token)
    }

    /// Makes the next set, if a provider covers its topic and may send its push type.
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

    /// Returns a row's own value and its column, or nil if there is no such column or its field is empty.
    private func value(_ column: Int?, of row: Row) -> (Int, UnsafeRawBufferPointer)? {
        guard let column, unsafe !row.fields[column].isEmpty else { return nil }
        return unsafe (column, row.fields[column])
    }
}
