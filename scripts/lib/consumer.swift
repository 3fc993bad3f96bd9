// A program of another package that uses the library: compiled and run by scripts/check-dependency.
import APNSBatch

var campaign = Campaign(
    destination: .host("localhost", port: 1), topic: "com.example.app",
    credentials: .none)
campaign.lanes = 1
do {
    _ = try CampaignRun(campaign, input: .file("/nonexistent/rows.csv"))
    print("an input that does not exist was opened")
} catch {
    print("the library answers: \(error)")
}
