// The library's public types are declared where they are used first, in modules below this one; programs import this one alone.
@_exported import APNSBatchModel
@_exported import APNSBatchRecords
