import APNSBatchNotification

/// A raw payload behind a byte that chooses the push type: made compact, made compact again, and held against the rules.
@Sendable func fuzzPayload(_ bytes: UnsafeRawBufferPointer) {
    guard let choice = bytes.first else { return }
    let types = PushType.allCases
    let rules = PayloadRules(
        template: nil, pushType: types[Int(choice & 31) % types.count], isBroadcast: choice & 0x80 != 0)
    guard let payload = compacted(UnsafeRawBufferPointer(rebasing: bytes.dropFirst())) else { return }
    payload.withUnsafeBytes { payload in
        precondition(compacted(payload) == Array(payload), "what is compact is not the shortest form")
        judge(payload, UnsafeBufferPointer(start: nil, count: 0), rules)
    }
}
