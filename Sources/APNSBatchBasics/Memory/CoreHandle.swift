/// The address of an object of the C core that several threads may hold; its header says what each of them may do with it.
@safe
package struct CoreHandle: @unchecked Sendable {
    package let pointer: OpaquePointer

    package init(pointer: OpaquePointer) { unsafe self.pointer = pointer }
}
