/** The gate of a tick that is computed before anything is locked. */
import { keyOf, nameOf, type SemaphoreKey, type Want } from '../../capacity/index.js';
import type { Gate } from '../machine/inputs.js';
import type { RunKey } from './ports.js';

/** A gate that remembers which keys it was asked for. Grants nothing by itself. */
export class AskingGate implements Gate {
  readonly keys = new Map<string, SemaphoreKey>();

  constructor(readonly run: RunKey) {}

  ask(_path: string, _ticket: number, wants: readonly Want[]): number | null {
    this.note(wants);
    return null;
  }

  release(_path: string, wants: readonly Want[]): void {
    this.note(wants);
  }

  /** Notes the keys of these. */
  protected note(wants: readonly Want[]): void {
    for (const want of wants) {
      const key = { tenantId: this.run.tenantId, key: keyOf(want) };
      this.keys.set(nameOf(key), key);
    }
  }
}
