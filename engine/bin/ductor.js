#!/usr/bin/env node
// The command `ductor`. Runs the compiled engine; a checkout that was never built says how to build it.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = new URL('../dist/main.js', import.meta.url);
if (existsSync(fileURLToPath(main))) {
  await import(main.href);
} else {
  process.stderr.write('ductor: the engine is not compiled yet. Run `npm run build` in the project folder.\n');
  process.exitCode = 1;
}
