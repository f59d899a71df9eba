/** Entry of the command `ductor`: reads arguments and environment, starts. */
import { runProgram } from './cli/index.js';

process.exitCode = await runProgram(process.argv, process.env);
