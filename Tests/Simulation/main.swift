import APNSBatchSimulation
import Glibc

exit(SimulationCommand(CommandLine.arguments).run())
