// Bundled from engine/src/workflow/in-process by scripts/build.mjs; a test compares the two.
declare module '#machine' {
  export function createMachine(seed: number): import('./machine-port.js').Machine;
}
