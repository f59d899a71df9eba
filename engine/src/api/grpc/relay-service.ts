/** RelayService: hands the streams of workers that other nodes lend to the bridge. */
import { DuctorError } from '../../kernel/index.js';
import { RelayResponse, type RelayHello, type RelayRequest } from '../../gen/ductor/relay/v1/relay.js';
import type { WorkResponse } from '../../gen/ductor/v1/bridge.js';
import type { Bridge, OpenedStream } from '../../bridge/index.js';
import type { Answers, BidiStream } from './call.js';
import { FieldChecks } from './checks/field-checks.js';

const MAX_WORKFLOWS = 1_000;
const MAX_HANDLERS = 1_000;

type Registered = NonNullable<Parameters<Bridge['open']>[2]>;

/** What the worker can do. Throws invalid_argument. */
function registeredOf({ workflows }: RelayHello): Registered {
  const checks = new FieldChecks();
  checks.count('hello.workflows', workflows.length, 0, MAX_WORKFLOWS);
  for (const [index, { handlers }] of workflows.entries()) {
    checks.count(`hello.workflows[${index}].handlers`, handlers.length, 0, MAX_HANDLERS);
  }
  checks.done();
  return {
    outcomes: [],
    workflows: workflows.map(({ familySlug, handlers, version }) => ({
      ...{ familySlug, handlers, pinnedVersion: version === 0 ? null : version },
    })),
  };
}

/** The stream of the worker within the stream of the node. */
function worksOn(answers: Answers<RelayResponse>): Answers<WorkResponse> {
  return {
    write: (work) => answers.write(RelayResponse.fromPartial({ work })),
    pause: () => answers.pause(),
    resume: () => answers.resume(),
    end: (caught) => answers.end(caught),
  };
}

/** Relay. */
export function relay(bridge: Pick<Bridge, 'open'>): BidiStream<RelayRequest, RelayResponse> {
  return (principal, answers) => {
    let opened: OpenedStream | null = null;
    return {
      received({ hello, work }) {
        if (opened === null) {
          if (hello === undefined) throw new DuctorError('invalid_argument', 'the first message must carry hello');
          opened = bridge.open(principal, worksOn(answers), registeredOf(hello), principal.principalId);
        }
        if (work !== undefined) opened.received(work);
      },
      drained: () => opened?.drained(),
      finished: () => (opened === null ? answers.end(null) : opened.finished()),
      gone: () => opened?.gone(),
    };
  };
}
