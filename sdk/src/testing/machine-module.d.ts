// Bundled from engine/src/workflow/in-process by scripts/build.mjs; a test compares the two.
declare module '#machine' {
  // Relative imports have no place in here.
  /* oxlint-disable typescript/consistent-type-imports */
  export function createMachine(
    seed: number,
    choose?: import('./machine-port.js').MachineChoose,
  ): import('./machine-port.js').Machine;
}
