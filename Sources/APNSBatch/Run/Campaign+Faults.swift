import APNSBatchModel
import APNSBatchSending

extension Campaign {
    /// What is wrong with topic, push type, priority, canary, numbers and circuit breaker by themselves. A run throws it, too; this reports it before the
    /// input is known, for a program that has found other faults and reports all of them at once.
    public var faults: [CampaignError] { CampaignPlan.faults(of: self).all }
}
