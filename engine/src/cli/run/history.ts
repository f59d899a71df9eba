/** `ductor run history`: what the journal says. */
import { GetRunHistoryResponse } from '../../gen/ductor/v1/run.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { cut, oneLine } from '../output/safe-text.js';
import { table } from '../output/table.js';
import { momentText, usOf } from '../output/times.js';

const PAGE = 200;
const DETAIL_CHARS = 160;

/** Runs the command. */
export function showHistory(context: CliContext, runId: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    for (let cursor = '', isFirst = true; isFirst || cursor !== ''; isFirst = false) {
      const pagination = { pageSize: PAGE, cursor, nextCursor: '' };
      const page = await engine.ask<GetRunHistoryResponse>((...rest) =>
        engine.runs.getRunHistory({ runId, pagination }, ...rest),
      );
      if (options.json === true) {
        terminal.out(`${await messageToJson('GetRunHistoryResponse', GetRunHistoryResponse, page)}\n`);
      } else {
        const rows = page.data.map(({ seq, at, kind, step, attempt, detail }) => [
          String(seq),
          momentText(usOf(at)),
          kind,
          step,
          attempt === 0 ? '' : String(attempt),
          cut(oneLine(JSON.stringify(detail ?? {})), DETAIL_CHARS),
        ]);
        terminal.out(table(terminal, ['SEQ', 'AT', 'FACT', 'STEP', 'ATTEMPT', 'DETAIL'], rows));
      }
      cursor = page.pagination?.nextCursor ?? '';
    }
  });
}
