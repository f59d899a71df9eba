/** `ductor workflow list`. */
import { ListWorkflowsResponse } from '../../gen/ductor/v1/workflow.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { table } from '../output/table.js';
import { distanceText, usOf } from '../output/times.js';

/** Options of the command. */
export interface ListOptions extends ClientOptions {
  readonly limit: number;
}

/** Runs the command. */
export function listWorkflows(context: CliContext, options: ListOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal, clock } = context;
    const pagination = { pageSize: options.limit, cursor: '', nextCursor: '' };
    const page = await engine.ask<ListWorkflowsResponse>((...rest) =>
      engine.workflows.listWorkflows({ pagination }, ...rest),
    );
    if (options.json === true) {
      terminal.out(`${await messageToJson('ListWorkflowsResponse', ListWorkflowsResponse, page)}\n`);
      return;
    }
    if (page.data.length === 0) {
      terminal.out('There is no workflow yet. Publish one: ductor workflow publish FILE.json\n');
      return;
    }
    const rows = page.data.map(({ familySlug, currentVersion, draft, updatedAt, title }) => [
      familySlug,
      currentVersion === 0 ? { text: 'draft only', tone: 'quiet' as const } : String(currentVersion),
      draft === undefined ? 'worker' : 'file',
      distanceText(usOf(updatedAt) ?? 0, clock.nowUs()),
      title,
    ]);
    terminal.out(table(terminal, ['WORKFLOW', 'VERSION', 'FROM', 'CHANGED', 'TITLE'], rows));
    if ((page.pagination?.nextCursor ?? '') !== '')
      terminal.err(`(the first ${page.data.length}; --limit shows more)\n`);
  });
}
