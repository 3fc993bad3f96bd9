/// What becomes of a setting of a campaign whose rows are sent in parts.
enum PartsFate {
    /// Each part is sent with it.
    case kept
    /// It holds for all parts together: the program that divides the rows keeps it, and gives each part its share.
    case whole
    /// The rows of the parts, their directories and their credentials take its place.
    case replaced
    /// Neither a part nor all parts together can keep it.
    case refused
}
