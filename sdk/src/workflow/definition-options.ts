/** What is said of a workflow as a whole. */
import type { DefinitionJson } from './definition-json.js';
import type { RunTurnOptions } from './turn-options.js';

/** What a definition says of its runs as a whole. */
export interface DefinitionOptions<In = unknown> extends RunTurnOptions<In> {
  /** For people. */
  readonly title?: string | undefined;
  /** Longest time of a run; then it ends as TIMED_OUT. Default: no limit. */
  readonly timeout?: string | undefined;
  /** Running steps once a failure is not handled: "drain" (default) lets them end, "cancel" tells them to stop. */
  readonly onFailure?: 'drain' | 'cancel' | undefined;
  /** What becomes of a run whose step has no attempts left: "fail" (default), or "park" to hold it for people. */
  readonly onExhausted?: 'fail' | 'park' | undefined;
  /** How long runs are kept after their end, "1m" to "3650d". Default: as long as the tenant keeps runs. */
  readonly retention?: string | undefined;
}

/** The same in a definition; what says whose turn a run is, stands in turn-options.ts. */
export function optionsJson(options: DefinitionOptions<never>): Partial<DefinitionJson> {
  const { title, timeout, onFailure, onExhausted, retention } = options;
  return {
    ...(title !== undefined && { title }),
    ...(timeout !== undefined && { timeout }),
    ...(onFailure !== undefined && { on_failure: onFailure }),
    ...(onExhausted !== undefined && { on_exhausted: onExhausted }),
    ...(retention !== undefined && { retention }),
  };
}
