/** `ductor run list`. */
import { ListRunsRequest, ListRunsResponse, RunState } from '../../gen/ductor/v1/run.js';
import { DuctorError } from '../../kernel/index.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { table } from '../output/table.js';
import { runRows } from '../view/run-view.js';

/** Options of the command. */
export interface ListOptions extends ClientOptions {
  readonly state?: string;
  readonly workflow?: string;
  /** Only runs that steps of this run started. */
  readonly parent?: string;
  /** Only the runs below this one in its family. */
  readonly family?: string;
  readonly limit: number;
  /** next_cursor of an earlier page. */
  readonly cursor?: string;
}

/** States that can be asked for, as they are written. */
export const RUN_STATE_NAMES: readonly string[] = Object.keys(RunState)
  .filter((name) => name.startsWith('RUN_STATE_') && name !== 'RUN_STATE_UNSPECIFIED')
  .map((name) => name.replace('RUN_STATE_', '').toLowerCase());

/** A state by its option. Throws invalid_argument. */
export function stateOf(name: string | undefined): RunState {
  if (name === undefined) return RunState.RUN_STATE_UNSPECIFIED;
  const found = Object.entries(RunState).find(([key]) => key === `RUN_STATE_${name.toUpperCase()}`);
  const state = found?.[1];
  if (typeof state === 'number') return state;
  throw new DuctorError('invalid_argument', `--state ${name} is no state of runs`, {
    remedy: `Use one of ${RUN_STATE_NAMES.join(', ')}.`,
  });
}

/** Runs the command. */
export function listRuns(context: CliContext, options: ListOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal, clock } = context;
    const { workflow: familySlug = '', limit, cursor = '' } = options;
    const pagination = { pageSize: limit, cursor, nextCursor: '' };
    const { parent: parentRunId = '', family: rootRunId = '' } = options;
    const state = stateOf(options.state);
    const request = ListRunsRequest.fromPartial({ pagination, state, familySlug, parentRunId, rootRunId });
    const page = await engine.ask<ListRunsResponse>((...rest) => engine.runs.listRuns(request, ...rest));
    if (options.json === true) {
      terminal.out(`${await messageToJson('ListRunsResponse', ListRunsResponse, page)}\n`);
      return;
    }
    if (page.data.length === 0) {
      terminal.out('There is no such run.\n');
      return;
    }
    terminal.out(table(terminal, ['RUN', 'STATE', 'WORKFLOW', 'STARTED', 'TOOK'], runRows(page.data, clock.nowUs())));
    const next = page.pagination?.nextCursor ?? '';
    if (next !== '') terminal.err(`(more: add --cursor ${next})\n`);
  });
}
