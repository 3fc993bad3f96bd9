import APNSBatch
import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import Glibc

/// The faults of the disk in one session.
struct DiskFault {
    enum Kind: CaseIterable {
        /// The process is killed in the middle of an operation.
        case kill
        /// Power is lost in the middle of an operation.
        case powerLoss
        /// The operation fails, and the disk is well again.
        case failure
        /// From then on there is no more space than was reserved.
        case full
    }

    var kind: Kind
    /// It strikes at this operation of the session, from 1, or at this one of its syncs.
    var operation: Int
    var isOfSyncs = false
    /// When the process has ended after a failure, the system does too.
    var endsInPowerLoss = false
}

/// The disk of a simulated run. What is written survives the end of the process, and what was synced a loss of power.
final class MemoryDisk: RunFiles, @unchecked Sendable {
    private(set) var ledger: MemoryFile
    private(set) var lines: MemoryFile
    private(set) var boot: (UInt64, UInt64) = (1, 1)
    /// What the last process left of its notes.
    private(set) var words: [UInt64] = []
    private var handOvers: HandOverRecord?
    private let broken: BrokenRule?
    private let strikes: Strikes
    fileprivate var dice: Dice

    private var fault: DiskFault?
    private var operations = 0
    /// The fault has struck.
    private(set) var isStruck = false
    /// It has ended the process: nothing that is written from now on arrives.
    private(set) var isDead = false
    fileprivate var isFull = false

    init(seed: UInt64, broken: BrokenRule?, strikes: Strikes) {
        dice = Dice(seed: seed ^ 0x6469_736B)
        self.broken = broken
        self.strikes = strikes
        ledger = MemoryFile("ledger")
        lines = MemoryFile("results.csv")
        adopt()
    }

    private func adopt() {
        for file in [ledger, lines] { file.disk = self }
        ledger.ignoresIntents = broken == .sendBeforeIntent
        ledger.keepsTornTail = broken == .keepTornTail
    }

    /// A run directory that never was used.
    func wipe() {
        ledger = MemoryFile("ledger")
        lines = MemoryFile("results.csv")
        words = []
        adopt()
    }

    /// A process begins; the operator has made room.
    func begin(_ fault: DiskFault?) {
        self.fault = fault
        (operations, isStruck, isDead, isFull) = (0, false, false, false)
        for file in [ledger, lines] { file.begin() }
    }

    /// The process has ended, or the system with it.
    func end(powerless: Bool) {
        if powerless, broken == .believeNotes, let handOvers {
            // Not only believed: each note is as old as a page that was never written.
            for slot in 0..<handOvers.slots {
                let word = handOvers.snapshot[4 + 2 * slot]
                if word != 0 { handOvers.note(slot: slot, firstRow: word >> 23, rows: 0) }
            }
        }
        words = handOvers?.snapshot ?? words
        handOvers = nil
        guard powerless else { return }
        let isScattered = isStruck && fault?.isOfSyncs == true
        for file in [ledger, lines] { file.losePower(&dice, isScattered: isScattered) }
        guard broken != .believeNotes else { return }
        words = []
        boot.0 += 1
    }

    /// What is done to an operation.
    fileprivate func strike(_ name: String) -> DiskFault.Kind? {
        if isDead { return .failure }
        if fault?.isOfSyncs != true || name == "sync" { operations += 1 }
        guard let fault, !fault.isOfSyncs || name == "sync", fault.operation == operations else { return nil }
        isStruck = true
        isDead = fault.kind == .kill || fault.kind == .powerLoss
        if fault.kind == .full { isFull = true }
        strikes.count("disk: \(fault.kind) at \(name)")
        return fault.kind == .full ? nil : fault.kind
    }

    func makeLedger() throws(CampaignError) -> any AppendFile { ledger }
    func openLedger() throws(CampaignError) -> any AppendFile { ledger }
    func results() throws(CampaignError) -> any AppendFile { lines }
    func resultsToRead() throws(CampaignError) -> (any AppendFile)? { lines }
    func notes() -> [UInt64] { words }

    func makeHandOvers(slots: Int) throws(CampaignError) -> HandOverRecord {
        let made = HandOverRecord(slots: slots)
        handOvers = made
        return made
    }
}

/// A file in memory.
final class MemoryFile: AppendFile, @unchecked Sendable {
    fileprivate weak var disk: MemoryDisk?
    /// A sync after a range does nothing.
    fileprivate var ignoresIntents = false
    /// Nothing is ever cut.
    fileprivate var keepsTornTail = false

    private let name: String
    private(set) var bytes: [UInt8] = []
    /// Of these, so many would survive a loss of power.
    private var durable = 0
    /// What stood here before it was cut: until the next sync the disk may still have that.
    private var uncut: [UInt8]?
    private var reserved: UInt64 = 0
    /// A sync failed: the system has forgotten what it could not write, and later ones only seem to succeed.
    private var isForgetful = false
    private var isIntentLast = false

    init(_ name: String) { self.name = name }

    var length: UInt64 { UInt64(bytes.count) }

    fileprivate func begin() {
        reserved = length
        isForgetful = false
    }

    func append(_ added: UnsafeRawBufferPointer) throws(StorageError) {
        let strike = disk?.strike("append")
        var fits = added.count
        if let disk, disk.isFull { fits = min(fits, Int(max(reserved, length) - length)) }
        if let disk, strike != nil { fits = min(fits, disk.isDead && strike == .failure ? 0 : part(added.count)) }
        bytes.append(contentsOf: added.prefix(fits))
        isIntentLast = added.first == 3
        if strike != nil { throw StorageError("write", name, code: EIO) }
        if fits < added.count { throw StorageError("write", name, code: ENOSPC) }
    }

    private func part(_ count: Int) -> Int { disk?.dice.within(0...count) ?? 0 }

    func sync() throws(StorageError) {
        let strike = disk?.strike("sync")
        // It may have been done before the end.
        if strike == .powerLoss || strike == .kill, part(1) == 1 { harden() }
        if strike == .failure { isForgetful = true }
        guard strike == nil else { throw StorageError("sync", name, code: EIO) }
        harden()
    }

    private func harden() {
        guard !isForgetful, !(ignoresIntents && isIntentLast) else { return }
        durable = bytes.count
        uncut = nil
    }

    func reserve(_ more: UInt64) throws(StorageError) {
        if disk?.strike("reserve") != nil { throw StorageError("reserve space for", name, code: EIO) }
        if let disk, disk.isFull, length + more > reserved {
            throw StorageError("reserve space for", name, code: ENOSPC)
        }
        reserved = max(reserved, length + more)
    }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StorageError) -> Int {
        guard offset < length else { return 0 }
        let count = min(buffer.count, bytes.count - Int(offset))
        bytes.withUnsafeBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)...].prefix(count)))
        }
        return count
    }

    func truncate(to length: UInt64) throws(StorageError) {
        if disk?.strike("truncate") != nil { throw StorageError("cut", name, code: EIO) }
        reserved = length
        guard length < self.length, !keepsTornTail else { return }
        uncut = uncut ?? bytes
        bytes.removeLast(bytes.count - Int(length))
        durable = min(durable, bytes.count)
    }

    /// Of what was not synced some is there, and some of that is not what was written.
    ///
    /// - Parameter isScattered: all is there but for a piece in the middle: the disk wrote in an order of its own.
    fileprivate func losePower(_ dice: inout Dice, isScattered: Bool) {
        defer { (durable, uncut, reserved) = (bytes.count, nil, length) }
        if let uncut, dice.chance(300_000) {
            bytes = uncut
            return
        }
        guard bytes.count > durable else { return }
        // Mostly nothing of it is there: the system writes when it must.
        let kept = isScattered ? bytes.count : dice.chance(500_000) ? durable : dice.within(durable...bytes.count)
        bytes.removeLast(bytes.count - kept)
        guard kept > durable, isScattered || dice.chance(600_000) else { return }
        let hole = dice.within(durable...kept - 1)
        for index in hole..<min(kept, hole + dice.within(1...512)) {
            bytes[index] = dice.chance(500_000) ? 0 : UInt8(truncatingIfNeeded: dice.next())
        }
    }
}
