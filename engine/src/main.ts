/** Entry of the command `ductor`: reads arguments and environment, starts. */
import { endProcess, runProgram } from './cli/index.js';

endProcess(await runProgram(process.argv, process.env));
