import CAPNSTransport

/// Copies of the transport's records, so that a test may keep them.
struct Outcome: Equatable {
    var ticket: UInt64
    var connection: UInt64
    var delivery: UInt32
    var scope: UInt32
    var code: Int64
    var status: UInt16
    var body: String
    var fields: [Field]
}

struct Event: Equatable {
    var kind: UInt32
    var connection: UInt64
    var context: UInt64
    var scope: UInt32
    var code: Int64
    var streamsMax: UInt32
    var lastStream: UInt32
    var detail: String
    var stage: UInt32 = 0
}

struct Received: Equatable {
    var connection: UInt64
    var stream: UInt32
    var fields: [Field]
    var body: [UInt8]
    var bodyTotal: UInt32

    func value(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }
}

struct Field: Equatable {
    var name: String
    var value: String
    var indexing = APNS_TRANSPORT_INDEXED

    static func == (a: Field, b: Field) -> Bool {
        a.name == b.name && a.value == b.value
    }
}

struct Request {
    var ticket: UInt64
    var path = "/"
    var body = ""
    var fields: [Field] = []
    var headerSet: UInt16 = 0
}

struct Response {
    var status: UInt16 = 200
    var fields: [Field] = []
    var body = ""
    var reset: UInt32?
}

extension Outcome {
    init(_ record: apns_transport_completion) {
        self.init(
            ticket: record.ticket, connection: record.connection, delivery: UInt32(record.delivery),
            scope: UInt32(record.scope), code: record.code, status: record.status,
            body: text(record.body, record.body_length), fields: fieldsCopied(record.fields, record.field_count))
    }
}

extension Event {
    init(_ record: apns_transport_event) {
        self.init(
            kind: UInt32(record.kind), connection: record.connection, context: record.context,
            scope: UInt32(record.scope), code: record.code, streamsMax: record.streams_max,
            lastStream: record.last_stream, detail: text(record.detail, record.detail_length),
            stage: UInt32(record.stage))
    }
}

extension Received {
    init(_ record: apns_transport_received) {
        self.init(
            connection: record.connection, stream: record.stream,
            fields: fieldsCopied(record.fields, record.field_count),
            body: Array(UnsafeBufferPointer(start: record.body, count: Int(record.body_length))),
            bodyTotal: record.body_total)
    }
}

private func text(_ bytes: UnsafePointer<UInt8>?, _ length: UInt32) -> String {
    String(decoding: UnsafeBufferPointer(start: bytes, count: Int(length)), as: UTF8.self)
}

private func fieldsCopied(_ fields: UnsafePointer<apns_transport_field>?, _ count: UInt32) -> [Field] {
    UnsafeBufferPointer(start: fields, count: Int(count)).map {
        Field(name: text($0.name, $0.name_length), value: text($0.value, $0.value_length))
    }
}
