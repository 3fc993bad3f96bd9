import Glibc
import Simulation

exit(SimulationCommand(CommandLine.arguments).run())
