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

    /// Moves into the array that comes next. False when something else comes.
    @inline(__always)
    mutating func openArray() -> Bool {
        skipBlanks()
        return take(UInt8(ascii: "["))
    }

    /// Steps to the next element of the array opened last; the caller then reads it before the next step.
    ///
    /// - Parameter isFirst: true for the first call on this array; set to false.
    @inline(__always)
    mutating func nextElement(isFirst: inout Bool) -> JSONStep.Outcome {
        skipBlanks()
        guard isFirst else {
            if take(UInt8(ascii: ",")) { return .member }
            return take(UInt8(ascii: "]")) ? .end : .broken
        }
        isFirst = false
        return take(UInt8(ascii: "]")) ? .end : .member
    }
}

/// A step through an object's members.
struct JSONStep {
    enum Outcome: UInt8 { case member, end, broken }

    var outcome: Outcome
    /// The member's name.
    var name: JSONText
}
