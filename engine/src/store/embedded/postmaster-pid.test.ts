import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../testing/child-process.js';
import { isProcessAlive, readPostmaster } from './postmaster-pid.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pid-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes postmaster.pid. */
function write(text: string): void {
  writeFileSync(join(folder, 'postmaster.pid'), text);
}

describe('isProcessAlive', () => {
  it('tells live from ended processes', async () => {
    const child = spawn('/bin/sleep', ['60']);
    const pid = child.pid ?? 0;
    expect(isProcessAlive(pid)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isProcessAlive(pid)).toBe(false);
  });

  it.runIf(existsSync('/proc/self/stat'))('counts a zombie as dead', async () => {
    // The shell starts a child and becomes a sleep, which never reaps it; the child ends only after that.
    const parent = spawn('/bin/sh', ['-c', '/bin/sleep 1 & echo $!; exec /bin/sleep 60']);
    const [chunk] = await once(parent.stdout, 'data');
    const pid = Number(String(chunk));
    await until(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z'), 'the zombie');
    expect(isProcessAlive(pid)).toBe(false);
    // The operating system still knows its number: signalling it succeeds.
    expect(process.kill(pid, 0)).toBe(true);
    parent.kill('SIGKILL');
  });
});

describe('readPostmaster', () => {
  it.each(['', '\n', 'x\n/data\n', '0\n', '-4\n'])('sees no server in %j', (text) => {
    write(text);
    expect(readPostmaster(folder)).toEqual({ state: 'none' });
  });

  it('sees no server without a file', () => {
    expect(readPostmaster(folder)).toEqual({ state: 'none' });
  });

  it('tells a server that is gone from a number that is used again', async () => {
    const child = spawn('/bin/sleep', ['60']);
    const pid = child.pid ?? 0;
    write(`${pid}\n${folder}\n1\n5432\n`);
    expect(readPostmaster(folder)).toEqual({ state: 'dead', pid, reused: true });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(readPostmaster(folder)).toEqual({ state: 'dead', pid, reused: false });
  });

  it('reads port and status of a live one', async () => {
    const child = spawn('/bin/sleep', ['60'], { argv0: 'postgres' });
    const pid = child.pid ?? 0;
    write(`${pid}\n${folder}\n1\n5433\n${folder}\n\n 1 1\nready   \n`);
    expect(readPostmaster(folder)).toEqual({ state: 'alive', pid, port: 5433, status: 'ready' });
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});
