/** A whole node of a test file, and commands that call it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestNode, type TestNode } from '../../api/grpc/testing/test-node.js';
import { testDatabase } from '../../store/testing/index.js';
import { commandLine, type CommandLine } from './command-line.js';

/** Commands that call the node; it is there in hooks that are declared after it, and in tests. */
export interface NodeCommands extends CommandLine {
  readonly node: TestNode;
  readonly tenantId: string;
  /** Address and key, as commands take them. */
  readonly env: Readonly<Record<string, string>>;
  /** Writes a file that is gone after the tests; returns its path. */
  file(name: string, text: string): string;
}

interface Started {
  readonly node: TestNode;
  readonly tenantId: string;
  readonly env: Readonly<Record<string, string>>;
  readonly commands: CommandLine;
  readonly folder: string;
}

/** Starts a node on a database of its own before the tests of a file, and stops it after them. */
export function nodeCommands(): NodeCommands {
  const database = testDatabase();
  let started: Started | undefined;
  const on = (): Started => started ?? expect.fail('the node is there in hooks and tests only');
  beforeAll(async () => {
    const node = await startTestNode(database.db);
    const { apiKey, tenantId } = await node.tenant('cli');
    const env = { DUCTOR_ADDRESS: node.address, DUCTOR_API_KEY: apiKey };
    const folder = mkdtempSync(join(tmpdir(), 'ductor-cli-'));
    started = { node, tenantId, env, commands: commandLine(env), folder };
  });
  afterAll(async () => {
    await started?.node.stop();
    if (started !== undefined) rmSync(started.folder, { recursive: true, force: true });
  });
  return {
    get node() {
      return on().node;
    },
    get tenantId() {
      return on().tenantId;
    },
    get env() {
      return on().env;
    },
    run: (...line) => on().commands.run(...line),
    done: (...line) => on().commands.done(...line),
    json: (...line) => on().commands.json(...line),
    file(name, text) {
      const path = join(on().folder, name);
      writeFileSync(path, text);
      return path;
    },
  };
}
