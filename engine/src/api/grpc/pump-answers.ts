/**
 * A stream of answers out of a source that is asked for one after another.
 *
 *   asking -> writing -> asking | full;  full -> asking once the peer has caught up;  any -> over
 * Invariants:
 * 1. The source is asked for the next answer only while the peer reads.
 * 2. It is let go of when the stream is over, whoever ended it.
 */
import type { Answers, AnswerEvents } from './call.js';

/** Writes what the source gives, and ends the stream with its end. */
export function pumpAnswers<Response>(source: AsyncIterable<Response>, answers: Answers<Response>): AnswerEvents {
  let isOver = false;
  let isFull = false;
  let goOn = (): void => undefined;
  const caughtUp = async (): Promise<void> => {
    if (!isFull || isOver) return;
    await new Promise<void>((resolve) => (goOn = resolve));
  };
  const pump = async (): Promise<void> => {
    try {
      for await (const answer of source) {
        if (isOver) return;
        isFull = !answers.write(answer);
        await caughtUp();
      }
      answers.end(null);
    } catch (error) {
      answers.end(error);
    }
  };
  void pump();
  return {
    drained() {
      isFull = false;
      goOn();
    },
    gone() {
      isOver = true;
      goOn();
    },
  };
}
