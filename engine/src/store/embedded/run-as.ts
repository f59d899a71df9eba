/**
 * Who runs the PostgreSQL processes, and which paths that user can reach.
 *
 * PostgreSQL refuses to run as root. A root engine spawns it as the user 65534 (nobody on Linux) without creating any
 * user. That user cannot walk through a 0700 folder such as /root, so a data folder in there is handed over as the
 * working directory and named /proc/self/cwd: root opens it before it gives its rights away, and each PostgreSQL
 * process changes into its data folder and stays there.
 */
import { chownSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

/** User and group of the PostgreSQL processes; undefined keeps the engine's own. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** The user id of nobody on every glibc Linux. */
const NOBODY: Identity = { uid: 65534, gid: 65534 };

/** Identity to spawn PostgreSQL with: nobody when the engine is root, else undefined. */
export function spawnIdentity(): Identity | undefined {
  return process.getuid?.() === 0 ? NOBODY : undefined;
}

/** User id of the PostgreSQL processes; -1 where the platform has none. */
export function processUid(identity: Identity | undefined): number {
  return identity?.uid ?? process.getuid?.() ?? -1;
}

/** Gives a file or folder to the identity; does nothing when PostgreSQL runs as the engine's own user. */
export function giveTo(identity: Identity | undefined, path: string): void {
  if (identity !== undefined) chownSync(path, identity.uid, identity.gid);
}

/** Whether the identity may walk into every folder above the path, by their owner and mode bits. */
export function canReach(identity: Identity | undefined, path: string): boolean {
  if (identity === undefined) return true;
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    const { mode, uid, gid } = statSync(folder);
    const execute = uid === identity.uid ? 0o100 : gid === identity.gid ? 0o010 : 0o001;
    if ((mode & execute) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** A working directory for PostgreSQL processes, and how they name paths. */
export interface View {
  /** Working directory to spawn in. */
  readonly cwd: string;
  /** The path as the spawned process can open it. */
  name(path: string): string;
}

/** How the identity sees a data folder and what lies beside it. */
export function viewOf(identity: Identity | undefined, dataFolder: string): View {
  if (canReach(identity, dataFolder)) return { cwd: '/', name: (path) => path };
  return {
    cwd: dataFolder,
    name: (path) => {
      if (canReach(identity, path)) return path;
      const step = relative(dataFolder, path);
      return step === '' ? '/proc/self/cwd' : `/proc/self/cwd/${step}`;
    },
  };
}
