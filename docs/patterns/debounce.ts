/** Many changes of one document in a row are indexed once: when nothing has changed for a while, the last one is. */
import { type DuctorClient, defineWorkflow } from '@ductor/sdk';
import { z } from 'zod';

const Change = z.object({ revision: z.number() });

/** Indexes a document as it is in a revision. */
export type IndexDocument = (document: string, revision: number) => Promise<void>;

export const indexing = (index: IndexDocument) =>
  defineWorkflow({
    slug: 'indexing',
    input: z.object({ document: z.string(), quiet: z.string() }),
    build(w) {
      const { document, quiet } = w.input;
      const changes = w.loop('changes', { vars: { revision: 0, isQuiet: false }, maxIterations: 10_000 }, (vars) => {
        const change = w.signal('change', { schema: Change, timeout: quiet });
        const more = w.project('more', { revision: change.output.revision, isQuiet: false });
        const calm = w.project('calm', { revision: vars.revision, isQuiet: true }, { onTimeout: change });
        const next = w.firstOf(more, calm);
        return { output: next, until: next.isQuiet };
      });
      const done = w.step('index', {
        input: { document, revision: changes.output.revision },
        async run({ document: name, revision }) {
          await index(name, revision);
          return revision;
        },
      });
      return done.output;
    },
  });

/** Says that a document has changed: to the run that gathers its changes, or to a new one. */
export function changed(
  client: DuctorClient,
  workflow: ReturnType<typeof indexing>,
  document: string,
  revision: number,
  quiet = '5s',
) {
  const signal = { runKey: document, signal: 'change', payload: { revision }, id: String(revision) };
  return client.signalWithStart(workflow, { document, quiet }, signal);
}
