/**
 * Stands for the outside world: a data provider that fails now and then, and a mail service that deduplicates by
 * idempotency key, as real ones do. What it accepted is one line each in a ledger file, which neither the engine nor
 * its database knows of.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** One accepted effect. */
export interface LedgerLine {
  /** enrich or notify. */
  readonly effect: string;
  readonly lead: string;
  readonly key: string;
}

/** An outage of the provider: trying again helps. */
class ProviderDownError extends Error {
  override readonly name = 'ProviderDownError';
}

/** A process that is alive writes the ledger's line so soon after the mark; later, it was killed in between. */
const MARK_TO_LEDGER_MS = 250;

/** The outside world, in a folder. */
export class Provider {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(join(folder, 'keys'), { recursive: true });
  }

  /** Where accepted effects are listed. */
  get ledgerFile(): string {
    return join(this.#folder, 'ledger.jsonl');
  }

  /** Accepts an effect once per key. Returns false when the key was known. */
  accept(line: LedgerLine): boolean {
    const mark = join(this.#folder, 'keys', createHash('sha256').update(line.key).digest('hex'));
    try {
      // The exclusive create decides: of two calls with one key, one wins.
      writeFileSync(mark, '', { flag: 'wx' });
    } catch (error) {
      if (!existsSync(mark)) throw error;
      if (!this.#wasCutOff(mark, line.key)) return false;
    }
    appendFileSync(this.ledgerFile, `${JSON.stringify(line)}\n`);
    return true;
  }

  /** Whether whoever made the mark was killed before the ledger had the line; the line is then still to be written. */
  #wasCutOff(mark: string, key: string): boolean {
    if (Date.now() - statSync(mark).mtimeMs < MARK_TO_LEDGER_MS) return false;
    return !existsSync(this.ledgerFile) || !readFileSync(this.ledgerFile, 'utf8').includes(JSON.stringify(key));
  }

  /** Notes that a body began: how often bodies ran can be told from how often they had an effect. */
  noteAttempt(line: LedgerLine & { readonly attempt: number }): void {
    appendFileSync(join(this.#folder, 'attempts.jsonl'), `${JSON.stringify(line)}\n`);
  }

  /** Household income of a region. Every third lead meets an outage at its first attempt. Throws ProviderDownError. */
  async income(leadId: string, attempt: number, signal: AbortSignal): Promise<number> {
    await pause(40, signal);
    const digest = createHash('sha256').update(leadId).digest();
    if (attempt === 1 && digest.readUInt8(0) % 3 === 0) throw new ProviderDownError('the data provider answered 503');
    return 30_000 + (digest.readUInt16BE(1) % 90_000);
  }

  /** Sends a mail, once per key. */
  async mail(line: LedgerLine, signal: AbortSignal): Promise<void> {
    await pause(30, signal);
    this.accept(line);
  }
}

/** Waits, or throws the signal's reason. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason instanceof Error ? signal.reason : new ProviderDownError('stopped'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
