/** The command line. */
export { ENGINE_VERSION, runProgram } from './program.js';
