/** What a replay came to, for people. */
import type { DecisionReplay } from '../../gen/ductor/v1/routing.js';
import type { CliContext } from '../context.js';
import { painter } from '../output/paint.js';

/** What is told of a replay. */
export type ReplayResult = Pick<
  DecisionReplay,
  'isSame' | 'recordedOutcome' | 'replayedOutcome' | 'recordedSha256' | 'replayedSha256'
>;

/** Two lines when it is the same, three with both digests when not. */
export function replayText(replay: ReplayResult, context: CliContext): string {
  const paint = painter(context.terminal);
  const { isSame, recordedOutcome, replayedOutcome, recordedSha256, replayedSha256 } = replay;
  if (isSame) return `${paint('good', 'the same')}, byte for byte: ${recordedOutcome}\n  sha256  ${recordedSha256}\n`;
  return (
    `${paint('bad', 'not the same')}\n` +
    `  recorded  ${recordedOutcome}  sha256 ${recordedSha256}\n` +
    `  replayed  ${replayedOutcome}  sha256 ${replayedSha256}\n`
  );
}
