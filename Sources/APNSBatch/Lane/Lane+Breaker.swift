/// What a lane tells of its answers, so that a campaign that is wrong stops early.
extension Lane {
    /// After a turn's answers.
    mutating func publishAnswers() {
        for provider in providers.indices {
            board.publish(providers[provider].counts, lane: number, provider: provider)
            if providers[provider].counts.hasNews { judge(provider) }
            if providers[provider].counts.answered != providers[provider].answeredThen {
                providers[provider].answeredThen = providers[provider].counts.answered
                providers[provider].answeredAt = now
            }
        }
        lookAtHealth()
    }

    /// For the lanes that have none.
    mutating func noteAnswers() {
        let answered = providers.indices.reduce(0) { $0 + providers[$1].counts.answered }
        if answered != answeredThen { board.noteAnswers(now: now) }
        answeredThen = answered
    }

    private mutating func judge(_ provider: Int) {
        guard let verdict = board.judge(provider) else { return }
        providers[provider].counts.hasNews = false
        guard let trip = verdict else { return }
        let what = trip.text(example: providers[provider].counts.example)
        let text = "\(plan.endpoint)\(providers[provider].access.forName): \(what)"
        control.stop(.failure(CampaignError(.fatalAnswer, text)))
    }
}
