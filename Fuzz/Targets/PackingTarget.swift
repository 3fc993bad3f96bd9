import APNSBatchRows

/// The first byte chooses the packing and how the bytes are cut. What is unpacked must not depend on the cuts.
@Sendable func fuzzPacking(_ bytes: UnsafeRawBufferPointer) {
    guard let choice = bytes.first else { return }
    let packing = choice & 1 == 0 ? Packing.gzip : .zstd
    let packed = Array(bytes.dropFirst())
    // A few bytes can stand for many megabytes.
    let most = 1 << 14
    let (whole, wholeFault) = packing.unpack(packed, pieces: packed.count, room: most, atMost: most)
    let (cut, cutFault) = packing.unpack(
        packed, pieces: 1 + Int(choice >> 1 & 7), room: 1 + Int(choice >> 4), atMost: whole.count)
    // The last piece may go beyond what was asked for.
    precondition(
        cut.prefix(whole.count).elementsEqual(whole.prefix(cut.count)), "what is unpacked depends on how it is cut")
    if wholeFault == nil, whole.count < most {
        precondition(cutFault == nil && cut.count == whole.count, "whether it can be unpacked depends on how it is cut")
    }
}
