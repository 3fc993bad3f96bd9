/// What becomes of a setting in a correction, which sends corrected rows of a run again.
enum CorrectionFate {
    /// It holds for the correction, too.
    case kept
    /// It is about the input of one night, or its figures: the campaign file's is not taken, but a flag may give it.
    case ofNight
    /// A correction has none.
    case absent
    /// The correction has its own value, and a flag cannot give it. The campaign file's says where the history is.
    case replaced

    /// Whether a correction takes the setting from the campaign file.
    var isOfFile: Bool { self == .kept || self == .replaced }
    /// Whether it may be given as a flag of a correction.
    var isOfFlags: Bool { self == .kept || self == .ofNight }
}
