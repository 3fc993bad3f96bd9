// libFuzzer over one target: `fuzz TARGET [option of libFuzzer]... [corpus]...`. Built and started by scripts/fuzz.
import APNSBatchFuzzTargets
import Glibc

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ argumentCount: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// Set once, before the driver starts.
nonisolated(unsafe) var chosen: FuzzTarget?

guard CommandLine.argc > 1, let target = FuzzTarget.named(CommandLine.arguments[1]) else {
    print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
    exit(CommandLine.argc > 1 ? 64 : 0)
}
chosen = target
// The driver takes the target's name for the program's.
var count = CommandLine.argc - 1
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
exit(
    runDriver(&count, &arguments) { bytes, length in
        chosen?.run(UnsafeRawBufferPointer(start: bytes, count: length))
        return 0
    })
