/** A job of somebody else is asked after until it is done, for months if need be, in runs with short histories. */
import { cel, defineWorkflow } from '@ductor/sdk';
import { z } from 'zod';

/** How far a job is; `cursor` is where its log goes on. */
export interface JobStatus {
  readonly state: 'running' | 'done';
  readonly cursor: number;
}

export const followJob = (ask: (job: string, cursor: number) => Promise<JobStatus>, pause = '1m', asks = 100) =>
  defineWorkflow({
    slug: 'follow-job',
    input: z.object({ job: z.string(), cursor: z.number() }),
    build(w) {
      const polling = w.loop(
        'polling',
        { vars: { state: 'running', cursor: w.input.cursor, asked: 0 }, maxIterations: asks },
        (vars) => {
          const status = w.step('ask', {
            input: { job: w.input.job, cursor: vars.cursor },
            run: ({ job, cursor }) => ask(job, cursor),
          });
          const isOver = cel<boolean>`${status.output.state} == "done" || ${vars.asked} + 1.0 >= ${asks}`;
          w.wait('pause', { duration: pause, after: status, when: isOver.eq(false) });
          return {
            until: isOver,
            output: {
              ...{ state: status.output.state, cursor: status.output.cursor },
              asked: cel<number>`${vars.asked} + 1.0`,
            },
          };
        },
      );
      // After so many, the next run goes on from the cursor: with the code that is current then, and the same mailbox.
      w.continueAsNew('go-on', {
        when: polling.output.state.eq('running'),
        input: { job: w.input.job, cursor: polling.output.cursor },
        version: 'current',
      });
      return { cursor: polling.output.cursor };
    },
  });
