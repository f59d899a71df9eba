/** What expressions see of a run: values are parsed when an expression first reads them, once a tick. */
import { DuctorError } from '../../kernel/index.js';
import type { Draft } from './draft.js';
import type { ExpressionScope } from './plan.js';
import { formatTimestampUs } from './timestamp.js';
import type { Value } from './value.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function parsed(value: Value, what: string): unknown {
  if (value.encoding !== 'json') {
    throw new DuctorError(
      'expression_failed',
      `${what} is encoded as "${value.encoding}"; expressions read only json`,
      {
        remedy: 'Pass it on as a whole (`steps.<ref>.output`), or let the step answer JSON.',
      },
    );
  }
  try {
    return JSON.parse(UTF8.decode(value.data));
  } catch (cause) {
    throw new DuctorError('expression_failed', `${what} is not valid JSON`, { cause });
  }
}

class DraftScope implements ExpressionScope {
  private readonly values = new Map<string, unknown>();
  private runFacts: Readonly<Record<string, unknown>> | null = null;

  constructor(private readonly draft: Draft) {}

  private once(key: string, value: Value, what: string): unknown {
    if (!this.values.has(key)) this.values.set(key, parsed(value, what));
    return this.values.get(key);
  }

  readonly input = (): unknown => this.once('input', this.draft.input, 'the input');

  readonly stepOutput = (ref: string): unknown => {
    const step = this.draft.steps.get(ref);
    if (step === undefined || step.status !== 'COMPLETED' || step.output === null) return undefined;
    return this.once(`output ${ref}`, step.output, `the output of step ${ref}`);
  };

  readonly stepError = (ref: string): unknown => {
    const step = this.draft.steps.get(ref);
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

/** The scope of a tick; follows the draft as steps end. Reading a value that is not JSON throws expression_failed. */
export function scopeOf(draft: Draft): ExpressionScope {
  return new DraftScope(draft);
}
