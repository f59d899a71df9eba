/** `ductor route replay-file`: exported decisions are made again here, without an engine and without a database. */
import { DuctorError, sha256Hex } from '../../kernel/index.js';
import { createRecordReader, replayExported, type ExportedDecision, type RecordReader } from '../../routing/index.js';
import type { CliContext } from '../context.js';
import { parseJson } from '../output/message-json.js';
import { painter } from '../output/paint.js';
import { readText } from '../read-text.js';
import { type ReplayResult, replayText } from './replay-text.js';

/** A part of a file, and how messages call it. */
interface Part {
  readonly text: string;
  readonly where: string;
}

/** The exports of a file: one JSON object over any number of lines, or one on each line. */
function partsOf(file: string): readonly Part[] {
  const text = readText(file).trim();
  const name = file === '-' ? 'standard input' : file;
  const lines = text.split('\n');
  const isMany = lines.length > 1 && lines.every((line) => line.startsWith('{') && line.endsWith('}'));
  if (!isMany) return [{ text, where: name }];
  return lines.map((line, index) => ({ text: line, where: `${name}, line ${index + 1}` }));
}

function exportedOf({ text, where }: Part): ExportedDecision {
  const parsed = parseJson(text, where);
  const read = (name: string): unknown =>
    typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, name) : undefined;
  const [record, documents] = [read('record'), read('documents')];
  if (typeof record === 'string' && typeof documents === 'object' && documents !== null) {
    return { record, documents: { ...documents } };
  }
  throw new DuctorError('invalid_argument', `${where} holds no exported decision`, {
    remedy: 'Write one with ductor route export.',
  });
}

/** The outcome that a record says. */
function recordedOutcome(record: string, where: string): string {
  const parsed = parseJson(record, where);
  const outcome: unknown = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, 'outcome') : undefined;
  return typeof outcome === 'string' ? outcome : '';
}

function replayed(part: Part, reader: RecordReader): ReplayResult & { readonly decisionId: string } {
  const exported = exportedOf(part);
  const { isSame, decision, record: again } = replayExported(exported, reader);
  return {
    ...{ decisionId: decision.input.decisionId, isSame, replayedOutcome: decision.outcome },
    recordedOutcome: recordedOutcome(exported.record, part.where),
    ...{ recordedSha256: sha256Hex(exported.record), replayedSha256: sha256Hex(again) },
  };
}

/** Runs `ductor route replay-file`: fails unless every decision of the file comes to the same bytes. */
export function replayFile(context: CliContext, file: string): void {
  const parts = partsOf(file);
  const reader = createRecordReader();
  let same = 0;
  for (const part of parts) {
    const result = replayed(part, reader);
    if (result.isSame) same += 1;
    if (parts.length === 1) context.terminal.out(replayText(result, context));
    else if (!result.isSame) context.terminal.out(`${result.decisionId}: ${replayText(result, context)}`);
  }
  if (same < parts.length) context.fail();
  if (parts.length === 1) return;
  const tone = same === parts.length ? 'good' : 'bad';
  const count = painter(context.terminal)(tone, `${same} of ${parts.length}`);
  context.terminal.out(`${count} decisions came to the same, byte for byte\n`);
}
