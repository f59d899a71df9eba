/** Checks `join`: when a step begins, by its edges. */
import type { Join } from '../../machine/plan.js';
import type { JoinDefinition } from '../definition.js';
import { DEFINITION_LIMITS } from '../limits.js';
import { didYouMean } from '../suggest.js';
import { childPath } from './problems.js';
import { field, isJsonObject, optionalNumber, optionalText, readObject, refuseUnknown } from './shape.js';
import { jsonKind, type ObjectReader } from './shape.js';

const JOIN_FIELDS = ['mode', 'count', 'cancel_losers'];
const MODES = ['all', 'any', 'n_of'];

const ALL: Join = { mode: 'all' };

/** The join of a validated step. */
export function joinPlan(join: JoinDefinition | undefined): Join {
  if (join === undefined || join.mode === undefined || join.mode === '' || join.mode === 'all') return ALL;
  const count = join.mode === 'any' ? 1 : (join.count ?? 1);
  return { mode: 'n_of', count, cancelLosers: join.cancel_losers ?? false };
}

function checkMode(reader: ObjectReader): string {
  const mode = optionalText(reader, 'mode') ?? 'all';
  if (!MODES.includes(mode)) {
    const remedy = `Use one of ${MODES.join(', ')}.${didYouMean(mode, MODES)}`;
    reader.problems.add(childPath(reader.path, 'mode'), mode, 'is no way to join', remedy);
  }
  return mode;
}

function checkLosers(reader: ObjectReader, mode: string): boolean {
  const value = field(reader.object, 'cancel_losers');
  if (value === undefined || value === false) return false;
  const path = childPath(reader.path, 'cancel_losers');
  if (value !== true) {
    reader.problems.add(path, value, `is ${jsonKind(value)}, not true or false`, 'Make it true or false.');
  } else if (mode === 'all') {
    reader.problems.add(
      path,
      value,
      'has no effect: a join of all has no losers',
      'Remove it, or use mode any or n_of.',
    );
  }
  return value === true;
}

/**
 * Reads `join` of a step; what is malformed counts as all.
 *
 * @param step the step's fields
 */
export function readJoin(step: ObjectReader): Join {
  const value = field(step.object, 'join');
  if (value === undefined || (isJsonObject(value) && Object.keys(value).length === 0)) return ALL;
  const reader = readObject(step.problems, childPath(step.path, 'join'), value);
  if (reader === undefined) return ALL;
  refuseUnknown(reader, JOIN_FIELDS, 'join');
  const mode = checkMode(reader);
  const count = optionalNumber(reader, 'count', { min: 1, max: DEFINITION_LIMITS.edges, isWhole: true });
  const cancelLosers = checkLosers(reader, mode);
  const countPath = childPath(reader.path, 'count');
  const given = field(reader.object, 'count');
  if (mode === 'n_of' && given === undefined) {
    reader.problems.add(countPath, undefined, 'is missing', 'Say how many edges must fire, such as "count": 2.');
  }
  if (mode !== 'n_of' && given !== undefined) {
    reader.problems.add(countPath, given, `has no effect on mode ${mode}`, 'Remove it, or use mode n_of.');
  }
  if (mode === 'any') return { mode: 'n_of', count: 1, cancelLosers };
  return mode === 'n_of' && count !== undefined ? { mode: 'n_of', count, cancelLosers } : ALL;
}
