/** `ductor run export` and `ductor run replay`: all there is of a run in a file, and what the machine makes of it. */
import { writeFileSync } from 'node:fs';
import type { BundleHead, BundlePart } from '../../gen/ductor/v1/run.js';
import { ExportRunResponse } from '../../gen/ductor/v1/run.js';
import { DuctorError } from '../../kernel/index.js';
import type { BundleReplay, RunBundle } from '../../workflow/index.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageFromJson, messageToJson, parseJson } from '../output/message-json.js';
import { painter } from '../output/paint.js';
import { cut, oneLine } from '../output/safe-text.js';
import { usOf } from '../output/times.js';
import { readText } from '../read-text.js';

/** Options of `export`. */
export interface ExportOptions extends ClientOptions {
  readonly out?: string;
}

/** Options of `replay`. */
export interface ReplayOptions {
  readonly json?: boolean;
  /** File with another definition. */
  readonly definition?: string;
}

const DETAIL_CHARS = 160;

/** Runs `ductor run export`. The file is written when the last part has come: what is there, is whole. */
export function exportRun(context: CliContext, runId: string, options: ExportOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const lines: string[] = [];
    let end: BundlePart['part'];
    for await (const message of engine.follow<ExportRunResponse>((metadata) =>
      engine.runs.exportRun({ runId }, metadata),
    )) {
      lines.push(await messageToJson('ExportRunResponse', ExportRunResponse, message));
      end = message.data?.part;
    }
    const text = `${lines.join('\n')}\n`;
    if (options.out === undefined) terminal.out(text);
    else {
      writeFileSync(options.out, text);
      const rows = end?.$case === 'end' ? end.value.rows : 0;
      terminal.out(`${options.out}: ${rows} rows of run ${runId}\n`);
    }
  });
}

/** What a file holds, gathered. */
interface Gathered {
  head?: BundleHead;
  isWhole: boolean;
  readonly rows: RunBundle['rows'][number][];
  readonly payloads: Map<string, Uint8Array>;
}

function gather(into: Gathered, part: BundlePart['part']): void {
  switch (part?.$case) {
    case 'head':
      into.head = part.value;
      return;
    case 'rows':
      into.rows.push(...part.value.rows.map(({ seq, at, entries }) => ({ seq, atUs: usOf(at) ?? 0, entries })));
      return;
    case 'payload':
      into.payloads.set(part.value.digest.toString('hex'), part.value.data);
      return;
    case 'end':
      into.isWhole = part.value.rows === into.rows.length && part.value.payloads === into.payloads.size;
      return;
    case undefined:
  }
}

/** Reads a bundle. Throws invalid_argument naming the line. */
async function readBundle(path: string, definition: unknown): Promise<RunBundle> {
  const { definitionFromWire } = await import('../../bridge/index.js');
  const gathered: Gathered = { isWhole: false, rows: [], payloads: new Map() };
  for (const [index, line] of readText(path).split('\n').entries()) {
    if (line === '') continue;
    const message = await messageFromJson('ExportRunResponse', ExportRunResponse, line, `${path} line ${index + 1}`);
    gather(gathered, message.data?.part);
  }
  const { head, isWhole, rows, payloads } = gathered;
  if (head?.definition === undefined || !isWhole) {
    const remedy = 'Export the run again, and wait until the command ends.';
    throw new DuctorError('invalid_argument', `${path} is no whole bundle of a run`, { remedy });
  }
  const { run, definitionSha256 } = head;
  return {
    ...{ runId: run?.id ?? '', version: run?.version ?? 0, rows, payloads },
    definition: definition ?? definitionFromWire(head.definition),
    digest: definition === undefined ? definitionSha256 : null,
  };
}

type Facts = NonNullable<BundleReplay['difference']>['recorded'];

function factLines(facts: Facts): readonly string[] {
  return facts.map(({ kind, step, attempt, detail }) => {
    const which = [kind, step, attempt === 0 ? '' : String(attempt)].filter((part) => part !== '');
    return `${which.join(' ')}  ${cut(oneLine(JSON.stringify(detail)), DETAIL_CHARS)}`;
  });
}

function replayText({ rows, status, difference }: BundleReplay, { terminal }: CliContext): string {
  const paint = painter(terminal);
  if (difference === null) return `${paint('good', 'the same')}: ${rows} rows, ${status}\n`;
  const { seq, problem } = difference;
  const [recorded, replayed] = [factLines(difference.recorded), factLines(difference.replayed)];
  const head = `${paint('bad', 'not the same')}: row ${seq} of ${rows}\n`;
  const was = recorded.map((line) => `${paint(replayed.includes(line) ? 'quiet' : 'bad', `- ${line}`)}\n`);
  const is = replayed.map((line) => `${paint(recorded.includes(line) ? 'quiet' : 'good', `+ ${line}`)}\n`);
  return `${head}  recorded\n${was.join('')}  replayed\n${is.join('')}${problem === '' ? '' : `  ${problem}\n`}`;
}

/** Runs `ductor run replay`: fails unless every row is the same. */
export async function replayRun(context: CliContext, path: string, options: ReplayOptions): Promise<void> {
  const { replayBundle } = await import('../../workflow/index.js');
  const { createCelCompiler } = await import('../../expressions/index.js');
  const { definition } = options;
  const other = definition === undefined ? undefined : parseJson(readText(definition), definition);
  const replay = replayBundle(await readBundle(path, other), createCelCompiler());
  if (replay.difference !== null) context.fail();
  if (options.json !== true) context.terminal.out(replayText(replay, context));
  else context.terminal.out(`${JSON.stringify({ same: replay.difference === null, ...replay })}\n`);
}
