import APNSBatch

print("imports APNSBatch")
