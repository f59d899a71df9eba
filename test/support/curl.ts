/** curl, or what curl sends where there is none. */
import { spawnSync } from 'node:child_process';

/** What came back. */
export interface CurlAnswer {
  readonly status: number;
  readonly json: unknown;
}

const HAS_CURL = spawnSync('curl', ['--version']).status === 0;
const MARK = '\nstatus ';

/**
 * Sends a request as `curl URL -H HEADER... [-d BODY]` does: with a body it is a POST.
 *
 * Throws when no answer came.
 */
export async function curl(url: string, headers: readonly string[], body?: string): Promise<CurlAnswer> {
  if (!HAS_CURL) return like(url, headers, body);
  const args = ['-sS', url, ...headers.flatMap((header) => ['-H', header]), '-w', `${MARK}%{http_code}`];
  const { status, stdout, stderr } = spawnSync('curl', body === undefined ? args : [...args, '-d', body], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`curl ended with ${status}: ${stderr}`);
  const at = stdout.lastIndexOf(MARK);
  return { status: Number(stdout.slice(at + MARK.length)), json: JSON.parse(stdout.slice(0, at)) };
}

async function like(url: string, headers: readonly string[], body?: string): Promise<CurlAnswer> {
  const pairs = headers.map((header) => header.split(/:\s*/, 2));
  const named = Object.fromEntries(pairs.map(([name = '', value = '']) => [name.toLowerCase(), value]));
  const form = { 'content-type': 'application/x-www-form-urlencoded', ...named };
  const sent = body === undefined ? { headers: named } : { method: 'POST', headers: form, body };
  const response = await fetch(url, sent);
  return { status: response.status, json: await response.json() };
}
