/// The distributions of answer times of several summaries together.
///
/// All summaries have the same bins, so that these add up exactly. A quantile is known as far as its bin: what is given is the
/// longest time in it, which is at most 26 % too long.
struct AnswerBinSum {
    private var counts: [Int: UInt64] = [:]
    private var samples: UInt64 = 0
    private var longest = 0.0
    /// Whether a summary has times without their distribution, as those of earlier versions do.
    private var lacksBins = false

    mutating func add(_ work: CampaignSummary.Work) {
        guard let times = work.answerTimes else { return }
        samples &+= times.samples
        longest = max(longest, times.max)
        guard let bins = work.answerBins else {
            lacksBins = true
            return
        }
        for bin in bins where bin.answers > 0 {
            guard let index = CampaignSummary.AnswerBin.index(ofLimit: bin.upToMilliseconds) else { continue }
            counts[index, default: 0] &+= bin.answers
        }
    }

    /// Nil without answers, or if the distribution of some is not known.
    var bins: [CampaignSummary.AnswerBin]? { lacksBins ? nil : CampaignSummary.AnswerBin.all(counts) }

    /// Nil likewise.
    var times: CampaignSummary.AnswerMilliseconds? {
        guard let bins else { return nil }
        return .init(
            p50: quantile(0.5, bins), p90: quantile(0.9, bins), p99: quantile(0.99, bins), max: longest,
            samples: samples)
    }

    private func quantile(_ share: Double, _ bins: [CampaignSummary.AnswerBin]) -> Double {
        let wanted = share * bins.reduce(0.0) { $0 + Double($1.answers) }
        var sum = 0.0
        for bin in bins {
            sum += Double(bin.answers)
            if sum >= wanted { return min(bin.upToMilliseconds, longest) }
        }
        return longest
    }
}
