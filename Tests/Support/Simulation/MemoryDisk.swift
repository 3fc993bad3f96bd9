import APNSBatch
import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import Glibc

/// The faults of the disk in one session.
struct DiskFault {
    enum Kind: CaseIterable {
        /// The process is killed during an operation.
        case kill
        /// Power is lost during an operation.
        case powerLoss
        /// The operation fails. Later operations succeed.
        case failure
        /// From then on, there is only the space that was reserved.
        case full
    }

    var kind: Kind
    /// The number of the operation in the session at which the fault occurs, from 1. If `isOfSyncs`, only syncs are
    /// counted.
    var operation: Int
    var isOfSyncs = false
    /// Whether power is lost after the process ended because of the failure.
    var endsInPowerLoss = false
}

/// The disk of a simulated run. Written data survives the end of the process, and synced data survives a loss of power.
final class MemoryDisk: RunFiles, @unchecked Sendable {
    private(set) var ledger: MemoryFile
    private(set) var lines: MemoryFile
    private(set) var rows: MemoryFile
    private(set) var boot: (UInt64, UInt64) = (1, 1)
    /// The words of the last process's hand-over record.
    private(set) var words: [UInt64] = []
    private var handOvers: HandOverRecord?
    private let broken: BrokenRule?
    private let strikes: Strikes
    fileprivate var dice: Dice

    private var fault: DiskFault?
    private var operations = 0
    /// Whether the fault has occurred.
    private(set) var isStruck = false
    /// Whether the fault has ended the process. Later writes have no effect.
    private(set) var isDead = false
    fileprivate var isFull = false

    init(seed: UInt64, broken: BrokenRule?, strikes: Strikes) {
        dice = Dice(seed: seed ^ 0x6469_736B)
        self.broken = broken
        self.strikes = strikes
        ledger = MemoryFile("ledger")
        lines = MemoryFile("results.csv")
        rows = MemoryFile("rows.spool")
        adopt()
    }

    private var files: [MemoryFile] { [ledger, lines, rows] }

    private func adopt() {
        for file in files { file.disk = self }
        ledger.ignoresIntents = broken == .sendBeforeIntent
        ledger.keepsTornTail = broken == .keepTornTail
    }

    /// Makes the run directory empty.
    func wipe() {
        ledger = MemoryFile("ledger")
        lines = MemoryFile("results.csv")
        rows = MemoryFile("rows.spool")
        words = []
        adopt()
    }

    /// Begins a process. The disk has space again.
    func begin(_ fault: DiskFault?) {
        self.fault = fault
        (operations, isStruck, isDead, isFull) = (0, false, false, false)
        for file in files { file.begin() }
    }

    /// Ends the process, or loses power.
    func end(powerless: Bool) {
        if powerless, broken == .believeNotes, let handOvers {
            // The notes are not only believed: each of them also gets the contents of a page that was never written.
            for slot in 0..<handOvers.slots {
                let word = handOvers.snapshot[4 + 2 * slot]
                if word != 0 { handOvers.note(slot: slot, firstRow: word >> 23, rows: 0) }
            }
        }
        words = handOvers?.snapshot ?? words
        handOvers = nil
        guard powerless else { return }
        let isScattered = isStruck && fault?.isOfSyncs == true
        for file in files { file.losePower(&dice, isScattered: isScattered) }
        guard broken != .believeNotes else { return }
        words = []
        boot.0 += 1
    }

    /// Counts an operation, and returns the fault that affects it.
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
    func results(of ledger: any AppendFile, isNew: Bool) throws(CampaignError) -> any AppendFile { lines }
    func resultsToRead() throws(CampaignError) -> (any AppendFile)? { lines }
    func notes() -> [UInt64] { words }
    func spool(of ledger: any AppendFile) throws(CampaignError) -> any AppendFile { rows }
    func removeSpool(of ledger: any AppendFile) {}

    func makeHandOvers(slots: Int, of ledger: any AppendFile) throws(CampaignError) -> HandOverRecord {
        let made = HandOverRecord(slots: slots)
        handOvers = made
        return made
    }
}

/// A file in memory.
final class MemoryFile: AppendFile, @unchecked Sendable {
    fileprivate weak var disk: MemoryDisk?
    /// Whether a sync after the announcement of a range has no effect.
    fileprivate var ignoresIntents = false
    /// Whether nothing is ever cut off.
    fileprivate var keepsTornTail = false

    private let name: String
    private(set) var bytes: [UInt8] = []
    /// The number of bytes that survive a loss of power.
    private var durable = 0
    /// The bytes before the last cut, which the disk may still have until the next sync.
    private var uncut: [UInt8]?
    private var reserved: UInt64 = 0
    /// Whether a sync failed. The system then drops the data that it could not write, and later syncs only seem to
    /// succeed.
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
        // The data may have been written before the process ended.
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

    /// Loses power. Some of the data that was not synced is kept, and some of the data kept is damaged.
    ///
    /// - Parameter isScattered: whether everything is kept except for a piece in the middle, because the disk wrote in
    ///   a different order.
    fileprivate func losePower(_ dice: inout Dice, isScattered: Bool) {
        defer { (durable, uncut, reserved) = (bytes.count, nil, length) }
        if let uncut, dice.chance(300_000) {
            bytes = uncut
            return
        }
        guard bytes.count > durable else { return }
        // In most cases nothing of it is kept, because the system writes data late.
        let kept = isScattered ? bytes.count : dice.chance(500_000) ? durable : dice.within(durable...bytes.count)
        bytes.removeLast(bytes.count - kept)
        guard kept > durable, isScattered || dice.chance(600_000) else { return }
        let hole = dice.within(durable...kept - 1)
        for index in hole..<min(kept, hole + dice.within(1...512)) {
            bytes[index] = dice.chance(500_000) ? 0 : UInt8(truncatingIfNeeded: dice.next())
        }
    }
}
