/// The rows of one provider that are set aside because all its streams are taken while another provider has some. A linked
/// list through the flight table, first in, first out.
struct WaitingRows {
    private(set) var count = 0
    private var first: Int32 = -1
    private var last: Int32 = -1

    mutating func add(_ ticket: Int, in flights: inout FlightTable) {
        assert((first < 0) == (last < 0) && (first < 0) == (count == 0), "a list has two ends, or is empty")
        flights[ticket].next = -1
        if last >= 0 { flights[Int(last)].next = Int32(ticket) } else { first = Int32(ticket) }
        last = Int32(ticket)
        count += 1
    }

    /// Removes and returns the row that has waited longest.
    mutating func takeFirst(in flights: inout FlightTable) -> Int? {
        guard first >= 0 else { return nil }
        let ticket = Int(first)
        first = flights[ticket].next
        if first < 0 {
            assert(Int(last) == ticket, "the list ends with its last row")
            last = -1
        }
        count -= 1
        assert((first < 0) == (count == 0), "as many rows leave the list as were added")
        return ticket
    }
}

/// Which rows may be taken before their provider is known.
enum LookAhead: Equatable {
    case anyRow
    /// Only a row that is due again. It has its slot already, whether it is sent or set aside.
    case dueRow
    case nothing

    /// - Parameters:
    ///   - setAside: The number of rows set aside, over all providers.
    ///   - most: The largest number of rows set aside for one provider.
    ///   - hasStream: Whether some provider has a free stream.
    static func allowed(setAside: Int, most: @autoclosure () -> Int, hasStream: @autoclosure () -> Bool) -> LookAhead {
        if setAside < LaneLimits.lookAhead { return .anyRow }
        guard hasStream() else { return .nothing }
        return most() < LaneLimits.asideMost ? .anyRow : .dueRow
    }
}
