/// Values that the Python function in the documentation of `SimulatorScript` prints.
enum PythonValues {
    /// The state after a seed of 0.
    static let state: UInt64 = 0xA8C7_F832_281A_39C5
    /// The value for the token `00` and the seed 0.
    static let place0 = 0.037406746620914144
    /// The value for the token of `TestRequest` and the seed 7.
    static let place1 = 0.5313290146166978
}
