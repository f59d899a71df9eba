// Bundled from engine/src/workflow/in-process by scripts/build.mjs; a test compares the two.
declare module '#machine' {
  // A relative import has no place in here.
  // oxlint-disable-next-line typescript/consistent-type-imports
  export function createMachine(seed: number): import('./machine-port.js').Machine;
}
