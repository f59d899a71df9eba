/** `ductor endpoint list`. */
import { ListEndpointsResponse } from '../../gen/ductor/v1/endpoint.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { table } from '../output/table.js';
import { formText, stateCell } from './texts.js';

/** Runs the command. */
export function listEndpoints(context: CliContext, options: ClientOptions & { readonly limit: number }): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const pagination = { pageSize: options.limit, cursor: '', nextCursor: '' };
    const page = await engine.ask<ListEndpointsResponse>((...rest) =>
      engine.endpoints.listEndpoints({ pagination }, ...rest),
    );
    if (options.json === true) {
      terminal.out(`${await messageToJson('ListEndpointsResponse', ListEndpointsResponse, page)}\n`);
      return;
    }
    const rows = page.data.map((endpoint) => [
      ...[endpoint.id, endpoint.name, formText(endpoint.form), stateCell(endpoint)],
      ...[endpoint.queues.join(' '), endpoint.url],
    ]);
    terminal.out(table(terminal, ['ENDPOINT', 'NAME', 'FORM', 'CIRCUIT', 'QUEUES', 'URL'], rows));
    if ((page.pagination?.nextCursor ?? '') !== '') {
      terminal.err(`(the first ${page.data.length}; the API has the rest)\n`);
    }
  });
}
