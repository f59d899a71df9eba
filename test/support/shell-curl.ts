/** curl commands as pages print them: run by a shell, or understood where there is no curl. */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import type { CurlAnswer } from './curl.js';

const HAS_CURL = spawnSync('curl', ['--version']).status === 0;
const MARK = '\nstatus ';

/** Variables of the shell, by name. */
export type ShellVariables = Readonly<Record<string, string>>;

/**
 * Runs a command as it stands, but for the host.
 *
 * @param command `curl -s … "https://api.ductor.io/…" …`
 * @param address host:port to call instead
 *
 * Throws when no answer came.
 */
export async function shellCurl(command: string, address: string, variables: ShellVariables): Promise<CurlAnswer> {
  const here = command.replaceAll('https://api.ductor.io', `http://${address}`);
  if (!HAS_CURL) return understood(words(here, variables));
  // Not in step: the engine may be of this very process.
  const { stdout } = await promisify(execFile)('sh', ['-c', `${here} -w '${MARK}%{http_code}'`], {
    env: { ...process.env, ...variables },
  });
  const at = stdout.lastIndexOf(MARK);
  return { status: Number(stdout.slice(at + MARK.length)), json: JSON.parse(stdout.slice(0, at)) };
}

/** The words of a command, its variables filled in: bare, in single quotes (as they are) or in double quotes. */
function words(command: string, variables: ShellVariables): readonly string[] {
  const fill = (text: string): string => text.replaceAll(/\$(\w+)/g, (_, name: string) => variables[name] ?? '');
  return [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare = '']) => single ?? fill(double ?? bare),
  );
}

async function understood([, ...args]: readonly string[]): Promise<CurlAnswer> {
  const headers: Record<string, string> = {};
  let [url, method, body]: (string | undefined)[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const next = (): string => args[(at += 1)] ?? '';
    const word = args[at] ?? '';
    if (word === '-X') method = next();
    else if (word === '-d') body = next();
    else if (word === '-H') {
      const [name = '', value = ''] = next().split(/:\s*/, 2);
      headers[name.toLowerCase()] = value;
    } else if (!word.startsWith('-')) url = word;
  }
  const verb = method ?? (body === undefined ? 'GET' : 'POST');
  const response = await fetch(url ?? '', { method: verb, headers, ...(body !== undefined && { body }) });
  return { status: response.status, json: await response.json() };
}
