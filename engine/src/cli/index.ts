/** The command line. */
export { runProgram } from './program.js';
