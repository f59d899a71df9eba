/** Askers as processes: each asks for starts of one tenant. */
import { fileURLToPath } from 'node:url';
import type { Child } from '../support/child.js';
import { startUntilLine, typescript } from '../support/worker.js';
import type { Phase, PhaseResult } from './phases.js';
import type { Sample } from './samples.js';

const SCRIPT = fileURLToPath(new URL('./asker.ts', import.meta.url));

/** Whom an asker asks, and for what. */
export interface AskerOptions {
  readonly name: string;
  readonly address: string;
  readonly apiKey: string;
  readonly slug: string;
}

function isResult(message: unknown): message is PhaseResult {
  return typeof message === 'object' && message !== null && 'name' in message && 'samples' in message;
}

/** One asker. */
export class Asker {
  private constructor(
    readonly child: Child,
    private readonly waiting: Map<string, (samples: readonly Sample[]) => void>,
  ) {}

  /** Starts one; resolves when it can be told what to ask. */
  static async start({ name, address, apiKey, slug }: AskerOptions): Promise<Asker> {
    const waiting = new Map<string, (samples: readonly Sample[]) => void>();
    const onMessage = (message: unknown): void => {
      if (isResult(message)) waiting.get(message.name)?.(message.samples);
    };
    const env = { DUCTOR_ADDRESS: address, DUCTOR_API_KEY: apiKey, ASKER_SLUG: slug };
    return new Asker(await startUntilLine({ name, args: typescript(SCRIPT), env, onMessage }, 'asker ready'), waiting);
  }

  /** Has it go through the phases, one right after the other; the result of each, by the order of the phases. */
  ask(phases: readonly Phase[]): Promise<readonly Sample[]>[] {
    const results = phases.map(async ({ name }) => {
      const answered = new Promise<readonly Sample[]>((resolve) => void this.waiting.set(name, resolve));
      const ended = this.child.exited.then(() => {
        throw new Error(`${this.child.name} ended in the middle of ${name}\n${this.child.output}`);
      });
      return Promise.race([answered, ended]);
    });
    this.child.send(phases);
    return results;
  }
}
