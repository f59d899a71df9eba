/** What a SELECT step chose, and what its body came to, as values. */
import { DuctorError } from '../../kernel/index.js';
import { fitsOneList, gathered } from './body-state.js';
import { checkSize } from './failure.js';
import { itemAt } from './list.js';
import type { SelectMode } from './plan.js';
import type { Chosen } from './selecting.js';
import type { BodyState } from './state.js';
import { embedded, typedValue, type TypedJson } from './typed-json.js';
import { jsonValue, NULL_VALUE, type Value } from './value.js';

/** What was chosen. */
export interface Selection {
  readonly pool_id: string;
  readonly decision_id?: string;
  /** In order. */
  readonly recipients: readonly Chosen[];
}

/** Lists of recipients by the selections that they stand in. */
const LISTS = new WeakMap<Uint8Array, Value>();

/** A selection out of its value. */
function selectionIn({ data }: Value): Selection {
  const selection: Selection = JSON.parse(Buffer.from(data).toString('utf8'));
  return selection;
}

/** The recipients of a selection as a list. */
export function recipientsIn(value: Value): Value {
  const known = LISTS.get(value.data);
  if (known !== undefined) return known;
  const list = jsonValue(selectionIn(value).recipients);
  LISTS.set(value.data, list);
  return list;
}

/** An object with a field more, which stays what it was. */
function withField(json: Readonly<Record<string, unknown>>, name: string, value: Value, what: string): Value {
  let part: TypedJson;
  try {
    part = embedded(value, name);
  } catch (cause) {
    throw new DuctorError('expression_failed', `${what} holds what is not valid JSON`, { cause });
  }
  return checkSize(typedValue({ json: { ...json, [name]: part.json }, types: part.types }), what);
}

/**
 * What the step puts out once its body has ended for all, or, in order, for the one with whom it completed.
 *
 * @throws DuctorError value_too_large when what the body came to does not fit one value
 */
export function selectOutput(selection: Value, body: BodyState, mode: SelectMode, path: string): Value {
  if (!fitsOneList(body)) {
    throw new DuctorError('value_too_large', `the outputs of the body of step ${path} have more bytes than one value`);
  }
  const outcomes = gathered(body, 'null', true);
  const chosen = selectionIn(selection);
  const what = `the output of step ${path}`;
  if (mode === 'each') {
    const { count, completed, failed, failures } = body;
    return withField({ ...chosen, count, completed, failed, failures }, 'outputs', outcomes, what);
  }
  const index = body.begun - 1;
  const output = itemAt(outcomes, index) ?? NULL_VALUE;
  if (mode === 'slate') return withField({ ...chosen }, 'output', output, what);
  const { failures } = body;
  return withField({ ...chosen, recipient: chosen.recipients[index], index, failures }, 'output', output, what);
}
