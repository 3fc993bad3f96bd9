// The library's public types are declared in the modules below this one that use them first. Programs import only this
// module.
@_exported import APNSBatchModel
@_exported import APNSBatchRecords
@_exported import APNSBatchRows
