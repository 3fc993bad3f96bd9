import APNSBatchCommand
import CAPNSStart  // Linked, it prepares the process before Swift's runtime starts.

await runCommand()
