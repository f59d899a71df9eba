/** Starts a process of the bench for one engine. */
import { Member } from './member.js';
import type { PeerName } from './peer-names.js';
import { PARTICIPANT } from './places.js';
import type { SetUp } from './peer.js';

/** Which process. */
export interface AppProcess {
  readonly peer: PeerName;
  /** For messages: "worker", "client". */
  readonly role: string;
  readonly env: Readonly<Record<string, string>>;
  readonly setUp: SetUp;
}

/** Starts it; resolves when it has loaded the engine's packages. */
export async function startApp({ peer, role, env, setUp }: AppProcess): Promise<Member> {
  const member = new Member({
    name: `${peer} ${role}`,
    command: process.execPath,
    args: [PARTICIPANT],
    env: { ...env, ...(setUp.stepLog !== undefined && { BENCH_STEP_LOG: setUp.stepLog }) },
    ipc: true,
  });
  await member.ask({ do: 'side', peer });
  return member;
}
