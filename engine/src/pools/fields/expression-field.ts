/** Fields that hold CEL: compiled against their schema when they are written, refused with position and remedy. */
import { z } from 'zod';
import type { CelCompiler, CelSchema, CelType } from '../../expressions/index.js';
import { refuse } from './primitives.js';

/** A CEL text that yields what is expected. Each thing wrong with it is a problem of its own. */
export function expressionField(compiler: CelCompiler, schema: CelSchema, expected: CelType): z.ZodType<string> {
  return z
    .string()
    .min(1)
    .superRefine((value, context) => {
      for (const { position, problem, remedy } of compiler.check(value, schema, expected)) {
        refuse(context, `line ${position.line}, column ${position.column}: ${problem}`, remedy);
      }
    });
}
