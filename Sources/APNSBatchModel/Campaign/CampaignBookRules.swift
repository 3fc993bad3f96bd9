extension Campaign {
    /// How a new run treats the history of its campaign, so that no input is sent twice by mistake and no unfinished run is forgotten.
    ///
    /// A campaign is known by ``Campaign/name``, the environment of ``Campaign/destination``, and the topic of ``Campaign/headers``.
    public struct BookRules: Sendable, Equatable {
        /// The path of the directory that holds the history, ``RunHistory``. It is created if it does not exist.
        public var directory: String
        /// When the current night began, in seconds since 1970-01-01 00:00 UTC. A run belongs to the night if it began since then.
        public var nightBegan: UInt64
        /// Whether one and the same input may be sent once each night. Otherwise it is sent once.
        public var repeatsNightly = false
        /// Whether an unfinished run of another input is finished before the new input is sent. Otherwise the summary names it.
        public var finishesEarlier = false
        /// The directories of unfinished runs that this start has finished first. None of them is the run of this night.
        public var finished: [String] = []
        /// The directories of unfinished runs that this start could not finish, because a person must change something first.
        public var unfinishable: [String] = []
        /// Whether an input is sent although it, or another one of this night, was sent before.
        public var again = false
        /// The directory of the run some of whose rows the input has, corrected: rows of it that were not sent. The input must have the column
        /// `not_sent_row`, as `not-sent.csv` of that run has it. The run gets the directory of ``CampaignBook``, and is
        /// no run of the night. Nil for an input of its own.
        public var correcting: String?

        /// Creates rules by which an input is sent once, and unfinished runs are only named.
        ///
        /// - Parameters:
        ///   - directory: The path of the directory that holds the history.
        ///   - nightBegan: In seconds since 1970-01-01 00:00 UTC.
        public init(directory: String, nightBegan: UInt64) {
            (self.directory, self.nightBegan) = (directory, nightBegan)
        }
    }
}
