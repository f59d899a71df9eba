/**
 * Enrichments of a pool: values that are worked out of the work first, for its expressions to read.
 * They wait for nobody: an expression over the routable, or a row of a table that stands in the pool itself, so that a
 * record that names the pool's document can be replayed.
 */
import { z } from 'zod';
import type { CelCompiler, CelReference } from '../../expressions/index.js';
import { ENRICHMENT_SCHEMA } from '../cel-schemas.js';
import { expressionField } from '../fields/expression-field.js';
import { duration, patternText, refuse, text } from '../fields/primitives.js';

/** Rows of a table. */
const MAX_ROWS = 1000;
/** Characters of a value as JSON: it stands in each record. */
export const MAX_VALUE_CHARS = 4096;
const MAX_ENRICHMENTS = 16;
const MINUTE_MS = 60_000;

const nameField = patternText(
  /^[a-z_][a-z0-9_]{0,63}$/,
  'a name of 1 to 64 lower-case letters, digits and "_", no digit first',
  'geo',
);

const valueField = z.json().superRefine((value, context) => {
  const { length } = JSON.stringify(value);
  if (length > MAX_VALUE_CHARS) {
    refuse(context, `has ${length} characters as JSON`, `Keep each value within ${MAX_VALUE_CHARS} characters.`);
  }
});

/** Names of enrichments that an expression reads, where it names them. */
function namesRead(references: readonly CelReference[]): readonly string[] {
  return references.flatMap(([root, name]) => (root === 'enrichments' && typeof name === 'string' ? [name] : []));
}

/** One enrichment; what its kind does not use is refused, for it would be believed to do something. */
function enrichmentField(compiler: CelCompiler) {
  return z
    .strictObject({
      name: nameField,
      kind: z.enum(['lookup', 'expr', 'connector']),
      expr: expressionField(compiler, ENRICHMENT_SCHEMA, 'dyn').optional(),
      key: expressionField(compiler, ENRICHMENT_SCHEMA, 'string').optional(),
      table: z.record(text(256), valueField).optional(),
      timeout: duration(1, MINUTE_MS).optional(),
      on_error: z.enum(['skip', 'fail']).optional(),
    })
    .superRefine((value, context) => {
      const { kind, table } = value;
      if (kind === 'connector') {
        refuse(context, 'is not there yet', 'Use expr or lookup, or send the value with the routable.', ['kind']);
        return;
      }
      const needed = kind === 'expr' ? (['expr'] as const) : (['key', 'table'] as const);
      for (const field of needed) {
        if (value[field] === undefined) refuse(context, `is missing: kind ${kind} needs it`, 'Add it.', [field]);
      }
      const unused = kind === 'expr' ? (['key', 'table', 'timeout'] as const) : (['expr', 'timeout'] as const);
      for (const field of unused) {
        if (value[field] !== undefined) refuse(context, `means nothing for kind ${kind}`, 'Leave it out.', [field]);
      }
      const rows = Object.keys(table ?? {}).length;
      if (rows > MAX_ROWS) refuse(context, `has ${rows} rows`, `Keep it within ${MAX_ROWS} rows.`, ['table']);
    });
}

/** The enrichments of a pool, in the order in which they are worked out: each reads those before it. */
export function enrichmentsField(compiler: CelCompiler) {
  return z
    .array(enrichmentField(compiler))
    .max(MAX_ENRICHMENTS)
    .superRefine((all, context) => {
      const before = new Set<string>();
      for (const [index, { name, expr, key }] of all.entries()) {
        if (before.has(name)) refuse(context, 'is there twice', 'Give each its own name.', [index, 'name']);
        for (const field of ['expr', 'key'] as const) {
          const source = field === 'expr' ? expr : key;
          if (source === undefined || compiler.check(source, ENRICHMENT_SCHEMA).length > 0) continue;
          const unknown = namesRead(compiler.compile(source, ENRICHMENT_SCHEMA).references).find(
            (each) => !before.has(each),
          );
          if (unknown !== undefined) {
            refuse(context, `reads "${unknown}", which is not worked out before it`, 'Put that one first.', [
              index,
              field,
            ]);
          }
        }
        before.add(name);
      }
    });
}
