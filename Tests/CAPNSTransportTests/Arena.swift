import CAPNSTransport
import CAPNSTransportServer

/// Memory for a test. Memory that the transport borrows lives as long as this object.
final class Arena {
    private var blocks: [UnsafeMutableRawPointer] = []

    deinit {
        for block in blocks {
            block.deallocate()
        }
    }

    func bytes(_ text: String) -> (UnsafePointer<UInt8>, UInt32) {
        let utf8 = Array(text.utf8)
        let block = UnsafeMutableRawPointer.allocate(byteCount: max(utf8.count, 1), alignment: 1)
        block.copyMemory(from: utf8, byteCount: utf8.count)
        blocks.append(block)
        return (UnsafePointer(block.assumingMemoryBound(to: UInt8.self)), UInt32(utf8.count))
    }

    func fields(_ fields: [Field]) -> UnsafePointer<apns_transport_field>? {
        guard !fields.isEmpty else { return nil }
        let size = MemoryLayout<apns_transport_field>.stride
        let block = UnsafeMutableRawPointer.allocate(byteCount: fields.count * size, alignment: 8)
        blocks.append(block)
        let records = block.bindMemory(to: apns_transport_field.self, capacity: fields.count)
        for (i, field) in fields.enumerated() {
            let (name, nameLength) = bytes(field.name)
            let (value, valueLength) = bytes(field.value)
            records[i] = apns_transport_field(
                name: name, value: value, name_length: nameLength, value_length: valueLength,
                indexing: field.indexing.rawValue, reserved: 0)
        }
        return UnsafePointer(records)
    }

    func record(_ request: Request, on connection: UInt64) -> apns_transport_request {
        let (path, pathLength) = bytes(request.path)
        let (body, bodyLength) = bytes(request.body)
        return apns_transport_request(
            ticket: request.ticket, connection: connection, path: path, body: bodyLength > 0 ? body : nil,
            fields: fields(request.fields), path_length: pathLength, body_length: bodyLength,
            header_set: request.headerSet, field_count: UInt16(request.fields.count), reserved: 0)
    }

    func record(_ response: Response, to received: Received) -> apns_transport_response {
        let (body, bodyLength) = bytes(response.body)
        return apns_transport_response(
            connection: received.connection, fields: fields(response.fields), body: body, stream: received.stream,
            body_length: bodyLength, field_count: UInt16(response.fields.count), status: response.status,
            reset: response.reset == nil ? 0 : 1, reset_code: response.reset ?? 0, reserved: 0)
    }
}
