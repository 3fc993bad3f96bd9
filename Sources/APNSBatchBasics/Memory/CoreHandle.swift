/// A pointer to an object of the C core that several threads may refer to. The header of the object documents which
/// functions may be called from other threads.
@safe
package struct CoreHandle: @unchecked Sendable {
    package let pointer: OpaquePointer

    package init(pointer: OpaquePointer) { unsafe self.pointer = pointer }
}
