import APNSBatchCredentials
import APNSBatchIdentities
import APNSBatchNotification
import CAPNSFloor

/// What nghttp2 alone costs for the requests of a campaign. See `floor.h`.
enum FloorBenchmark {
    private static let streamsMax = 1000
    /// A batch takes some milliseconds. All of them take some seconds: for less, a machine may be fast or slow by chance.
    private static let count = 1000

    static func figures(_ inputs: Inputs) throws -> [Figure] {
        let streams = min(streamsMax, inputs.rows)
        let all = try run(fields: fields(), body: RenderBenchmark.plainPayload(), streams: streams, batches: count)
        // The first ones are for warming up.
        let batches = all.dropFirst(count / 10)
        // The mean, because the processor time of a sender, which it is compared with, is one, too.
        func time(_ name: String, _ part: (floor_batch) -> UInt64) -> Figure {
            let sum = batches.reduce(0) { $0 + part($1) }
            return Figure("floor.\(name)", Double(sum) / Double(streams * batches.count), "ns/request")
        }
        return [
            time("submit", \.submit_ns), time("send", \.send_ns), time("receive", \.receive_ns),
            time("total") { $0.submit_ns + $0.send_ns + $0.receive_ns },
            Figure("floor.requests", Double(streams * count), "requests"),
            Figure("floor.answers", Double(all.reduce(0) { $0 + Int($1.answered) }), "answers"),
        ]
    }

    /// What requests share, as a lane makes it.
    private static func fields() throws -> [HeaderField] {
        let host = APNSHost.push(.production)
        let fixed = DeviceRequestHeaders.fixed(
            authority: host.name, topic: "com.example.app", pushType: .alert, priority: nil)
        let token = try TokenBenchmark.make(SigningKey.generate(), issuedAt: 0).authorization.unwipedCopy
        return fixed + [RequestHeader.authorization.field(String(decoding: token, as: UTF8.self))]
    }

    private static func run(
        fields: [HeaderField], body: [UInt8], streams: Int, batches count: Int
    ) throws -> [floor_batch] {
        let text = fields.flatMap { Array($0.name.utf8) + Array($0.value.utf8) }
        var batches = [floor_batch](repeating: floor_batch(), count: count)
        let good = text.withUnsafeBufferPointer { text in
            body.withUnsafeBufferPointer { body in
                let records = records(of: fields, in: text.baseAddress!)
                return records.withUnsafeBufferPointer { records in
                    var request = floor_request(
                        fields: records.baseAddress, field_count: records.count, body: body.baseAddress,
                        body_length: body.count)
                    return floor_run(&request, UInt32(streams), &batches, count)
                }
            }
        }
        guard good, batches.allSatisfy({ $0.answered == streams && $0.delivered == streams }) else {
            throw BenchmarkFailure("nghttp2 did not deliver every request and every answer")
        }
        return batches
    }

    /// Names and values stand one behind the other in `text`.
    private static func records(of fields: [HeaderField], in text: UnsafePointer<UInt8>) -> [floor_field] {
        var place = text
        return fields.map { field in
            let (name, value) = (place, place + field.name.utf8.count)
            place = value + field.value.utf8.count
            return floor_field(
                name: name, value: value, name_length: value - name, value_length: place - value,
                indexed: field.indexing == .indexed)
        }
    }
}
