// APNSBatch
