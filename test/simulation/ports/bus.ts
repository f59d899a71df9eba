/** The bus: whatever is said may come late, twice, out of order or never. */
import type { Bus, BusTopic } from '../../../engine/src/workflow/coordinator/ports.js';
import type { Actor } from '../core/sim-event.js';
import type { Sim } from '../core/sim.js';

interface Listener {
  readonly actor: Actor;
  readonly topic: BusTopic;
  readonly hear: (body: string) => void;
}

/** One for all processes. */
export class SimBus {
  #listeners: readonly Listener[] = [];
  /** It carries nothing. */
  isDown = false;

  /** @param lost told of the topic and body of messages that somebody does not hear */
  constructor(
    readonly sim: Sim,
    readonly lost: (topic: BusTopic, body: string) => void,
  ) {}

  /** The bus as one process sees it. */
  of(actor: Actor): Bus {
    return {
      publish: (topic, body) => this.#publish(topic, body),
      subscribe: (topic, hear) => {
        const listener: Listener = { actor, topic, hear };
        this.#listeners = [...this.#listeners, listener];
        return () => {
          this.#listeners = this.#listeners.filter((other) => other !== listener);
        };
      },
    };
  }

  /** Forgets the listeners of a process. */
  forget(actor: Actor): void {
    this.#listeners = this.#listeners.filter((listener) => listener.actor !== actor);
  }

  #publish(topic: BusTopic, body: string): void {
    const { faults, choices, scheduler } = this.sim;
    for (const listener of this.#listeners) {
      if (listener.topic !== topic) continue;
      const times = faults.strikes('bus_duplicate') ? 2 : 1;
      for (let time = 0; time < times; time += 1) {
        if (this.isDown || faults.strikes('bus_loss')) {
          this.lost(topic, body);
          continue;
        }
        const soonUs = faults.strikes('bus_reorder') ? choices.int(4_000, 80_000) : choices.int(100, 3_000);
        const delayUs = faults.strikes('bus_delay') ? choices.int(10_000, 3_000_000) : soonUs;
        scheduler.after(delayUs, listener.actor, `hears ${topic} ${topic === 'inbox' ? body : ''}`, () => {
          if (this.#listeners.includes(listener)) listener.hear(body);
        });
      }
    }
  }
}
