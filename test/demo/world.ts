/** The outside world of the example app, as a spectator sees it: what bodies began, what was accepted. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readLines } from '../support/jsonl.js';
import { type LedgerLine, ledgerLine } from './ledger-check.js';

const attemptLine = ledgerLine.extend({ attempt: z.number().int() });

/** How often bodies began. */
export interface Bodies {
  readonly begun: number;
  /** Beginnings beyond the first of the same attempt: what kills made the engine send again. */
  readonly repeated: number;
  /** Attempts after the first one of a step: what failures and lost workers made the engine try again. */
  readonly retried: number;
}

/** A world folder. */
export interface World {
  readonly folder: string;
  ledger(): readonly LedgerLine[];
  bodies(): Bodies;
  /** Puts one more effect into the ledger, as a second mail to the same person would. */
  plantDouble(): void;
}

/** The world in a folder. */
export function watchWorld(folder: string): World {
  const file = join(folder, 'ledger.jsonl');
  const ledger = (): readonly LedgerLine[] => readLines(file, ledgerLine);
  return {
    folder,
    ledger,
    bodies() {
      const lines = readLines(join(folder, 'attempts.jsonl'), attemptLine);
      const attempts = new Set(lines.map(({ effect, lead, attempt }) => `${effect}/${lead}/${attempt}`));
      const steps = new Set(lines.map(({ effect, lead }) => `${effect}/${lead}`));
      return {
        begun: lines.length,
        repeated: lines.length - attempts.size,
        retried: attempts.size - steps.size,
      };
    },
    plantDouble() {
      const [first] = ledger();
      if (first === undefined) throw new Error('there is no effect to double');
      appendFileSync(file, `${JSON.stringify({ ...first, key: `${first.key} again` })}\n`);
    },
  };
}
