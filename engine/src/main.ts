/** Entry of the command `ductor`: reads arguments and environment, starts. */
import { runProgram } from './cli/program.js';

process.exitCode = await runProgram(process.argv, process.env);
