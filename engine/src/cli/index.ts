/** The command line. */
export { runProgram } from './program.js';
export { endProcess } from './system-end.js';
