/** Files to which processes append one JSON object a line. */
import { existsSync, readFileSync } from 'node:fs';
import type { z } from 'zod';

/** All whole lines of the file, in order; none when it does not exist. A last line without its end is left out. */
export function readLines<S extends z.ZodType>(file: string, schema: S): z.output<S>[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => schema.parse(JSON.parse(line)));
}
