/** What expressions see of a run: values are parsed when an expression first reads them, once a tick. */
import { DuctorError } from '../../kernel/index.js';
import type { Draft } from './draft.js';
import { ownerOfScope, pathIn, scopeOfPath } from './path.js';
import type { ExpressionScope } from './plan.js';
import { bodyAround, itemOf, varsOf } from './resolve-source.js';
import type { StepState } from './state.js';
import { formatTimestampUs } from './timestamp.js';
import { CODEC_PREFIX, expressionView, jsonOfValue } from './typed-json.js';
import type { Value } from './value.js';

function parsed(value: Value, what: string): unknown {
  let found: ReturnType<typeof jsonOfValue>;
  try {
    found = jsonOfValue(value);
  } catch (cause) {
    throw new DuctorError('expression_failed', `${what} is not valid JSON`, { cause });
  }
  if (found !== undefined) return expressionView(found.json, found.types);
  const problem = `${what} is encoded as "${value.encoding}"; expressions read only json`;
  throw new DuctorError('expression_failed', problem, {
    remedy: value.encoding.startsWith(CODEC_PREFIX)
      ? 'The app alone can read it: pass it on as a whole (`steps.<ref>.output`), or compute with it in a step.'
      : 'Pass it on as a whole (`steps.<ref>.output`), or let the step answer JSON.',
  });
}

/**
 * What was parsed of values that stand outside of the body they are read in: the steps of each item read them again, in
 * tick after tick. Goes with the value.
 */
const PARSED = new WeakMap<Uint8Array, unknown>();

function parsedOnce(value: Value, what: string): unknown {
  if (!PARSED.has(value.data)) PARSED.set(value.data, parsed(value, what));
  return PARSED.get(value.data);
}

class DraftScope implements ExpressionScope {
  private readonly values = new Map<string, unknown>();
  private runFacts: Readonly<Record<string, unknown>> | null = null;

  constructor(
    private readonly draft: Draft,
    private readonly scope: string,
    private readonly asked: Value | null,
  ) {}

  private once(key: string, value: Value, what: string): unknown {
    if (!this.values.has(key)) this.values.set(key, parsed(value, what));
    return this.values.get(key);
  }

  private outer(key: string, value: Value, what: string): unknown {
    return this.scope === '' ? this.once(key, value, what) : parsedOnce(value, what);
  }

  /** The step of this name in this scope or the nearest one around it. */
  private step(ref: string): StepState | undefined {
    for (let at = this.scope; at !== ''; at = scopeOfPath(ownerOfScope(at))) {
      const step = this.draft.steps.get(pathIn(at, ref));
      if (step !== undefined) return step;
    }
    return this.draft.steps.get(ref);
  }

  readonly input = (): unknown => this.outer('input', this.draft.input, 'the input');

  readonly item = (): unknown => {
    const item = itemOf(this.draft, this.scope);
    return item === undefined ? undefined : this.once('item', item, 'the item');
  };

  readonly index = (): number | undefined => bodyAround(this.draft, this.scope)?.index;

  readonly vars = (): unknown => {
    const vars = varsOf(this.draft, this.scope);
    return vars === undefined ? undefined : this.once('vars', vars, 'what the loop carries');
  };

  readonly update = (): unknown =>
    this.asked === null ? undefined : this.once('update', this.asked, 'the input of the update');

  readonly stepOutput = (ref: string): unknown => {
    const step = this.step(ref);
    if (step === undefined || step.status !== 'COMPLETED' || step.output === null) return undefined;
    const what = `the output of step ${step.path}`;
    const isOwn = scopeOfPath(step.path) === this.scope;
    return isOwn ? this.once(`output ${ref}`, step.output, what) : parsedOnce(step.output, what);
  };

  readonly stepError = (ref: string): unknown => {
    const step = this.step(ref);
    if (step === undefined || step.status !== 'FAILED' || step.error === null) return undefined;
    const { code, message, attempt, retryable } = step.error;
    return { code, message, step: step.error.step, attempt, retryable };
  };

  /** Facts that never change while the run lives, so that an expression gives the same whenever it is asked. */
  get run(): Readonly<Record<string, unknown>> {
    this.runFacts ??= {
      id: this.draft.before.runId,
      family_slug: this.draft.familySlug,
      version: this.draft.version,
      started_at: formatTimestampUs(this.draft.startedAtUs),
      attributes: this.draft.attributes,
    };
    return this.runFacts;
  }
}

/**
 * The scope of a tick; follows the draft as steps end. Reading a value that is not JSON throws expression_failed.
 *
 * @param scope the run of a body whose steps read; empty for the top level
 * @param update input of the update that is asked about. Default: there is none
 */
export function expressionsOf(draft: Draft, scope: string, update: Value | null = null): ExpressionScope {
  return new DraftScope(draft, scope, update);
}
