extension JSONScanner {
    /// Moves into the object that comes next. False when something else comes.
    @inline(__always)
    mutating func openObject() -> Bool {
        skipBlanks()
        return take(UInt8(ascii: "{"))
    }

    /// A member's name and its colon, white space around them included.
    @inline(__always)
    mutating func memberName() -> JSONText {
        skipBlanks()
        let name = string()
        skipBlanks()
        guard name.isValid, take(UInt8(ascii: ":")) else { return .invalid }
        return name
    }

    /// Steps to the next member of the object opened last; the caller then reads its value before the next step.
    ///
    /// - Parameter isFirst: true for the first call on this object; set to false.
    @inline(__always)
    mutating func nextMember(isFirst: inout Bool) -> JSONStep {
        skipBlanks()
        if take(UInt8(ascii: "}")) {
            return JSONStep(outcome: .end, name: .invalid)
        }
        if !isFirst {
            guard take(UInt8(ascii: ",")) else { return JSONStep(outcome: .broken, name: .invalid) }
        }
        isFirst = false
        let name = memberName()
        return JSONStep(outcome: name.isValid ? .member : .broken, name: name)
    }
}

/// A step through an object's members.
struct JSONStep {
    enum Outcome: UInt8 { case member, end, broken }

    var outcome: Outcome
    /// The member's name.
    var name: JSONText
}
