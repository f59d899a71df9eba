/** The files of deploy/: they parse, name only what there is, and say what a node does. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { settingTexts } from '../../engine/src/config.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { allMetrics } from '../../engine/src/telemetry/testing/all-metrics.js';
import { ROOT } from '../support/child.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';

const DEPLOY = join(ROOT, 'deploy');
const read = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8');
const operations = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');

/** The documents of a YAML file, anchors and merges resolved. Fails for what does not parse. */
function documents(path: string): readonly unknown[] {
  return parseAllDocuments(read(path), { merge: true }).map((document) => {
    expect(document.errors, path).toEqual([]);
    return document.toJS() as unknown;
  });
}

/** Every value under a key, wherever it stands. */
function valuesOf(key: string, value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...valuesOf(key, inner)]);
}

/** Metrics that a text speaks of. */
function namesIn(text: string): ReadonlySet<string> {
  return new Set((text.match(/\bductor_[a-z_]+/g) ?? []).map((name) => name.replace(/_bucket$/, '')));
}

const settings = new Set(settingTexts().map(({ name }) => name));
const kubernetes = readdirSync(join(DEPLOY, 'kubernetes'));

describe('deploy/', () => {
  it('holds alerts and a dashboard that speak of metrics there are; the dashboard of all of them', async () => {
    const names = new Set((await allMetrics()).map(({ name }) => name));
    const inAlerts = namesIn(read('prometheus/alerts.yaml'));
    const inDashboard = namesIn(read('grafana/ductor.json'));
    expect([...inAlerts, ...inDashboard].filter((name) => !names.has(name))).toEqual([]);
    expect([...names].filter((name) => !inDashboard.has(name))).toEqual([]);
    const script = 'scripts/generate-dashboard.mjs';
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { cwd: ROOT, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('holds alerts each of which docs/operations.md says what to do about', () => {
    const alerts = valuesOf('alert', documents('prometheus/alerts.yaml'));
    expect(alerts.length).toBeGreaterThan(5);
    for (const alert of alerts) expect(operations).toContain(`| \`${String(alert)}\``);
  });

  it('sets only settings there are, in containers and pods', () => {
    const [compose] = documents('compose.yaml');
    const services = valuesOf('environment', valuesOf('services', compose)[0]);
    const given = services.flatMap((environment) => Object.keys(environment as object));
    const pods = kubernetes.flatMap((file) => documents(`kubernetes/${file}`));
    const inPods = valuesOf('env', pods).flatMap((env) => valuesOf('name', env).filter((name) => name !== 'ductor'));
    const known = (name: unknown): boolean =>
      settings.has(String(name)) ||
      ['POD_IP', 'POSTGRES_USER', 'POSTGRES_DB', 'POSTGRES_PASSWORD'].includes(String(name));
    expect([...given, ...inPods].filter((name) => !known(name))).toEqual([]);
    for (const needed of ['DATABASE_URL', 'DUCTOR_SECRET', 'DUCTOR_ADVERTISE_ADDRESS']) {
      expect(given.filter((name) => name === needed)).toHaveLength(2);
      expect(inPods).toContain(needed);
    }
  });

  it('names all files of its kustomization', () => {
    const [kustomization] = documents('kubernetes/kustomization.yaml');
    const named = valuesOf('resources', kustomization)[0];
    expect(named).toEqual(expect.arrayContaining(kubernetes.filter((file) => file !== 'kustomization.yaml')));
    expect(named).toHaveLength(kubernetes.length - 1);
  });
});

describe('a node as the container starts it', () => {
  const test = testDatabase();
  cleanUpProcesses();
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ databaseUrl: test.url });
  });

  /** The words of an instruction of the container file. */
  function words(instruction: string): readonly string[] {
    const text = new RegExp(`${instruction} (\\[.*\\])`).exec(read('container/Containerfile'))?.[1];
    return JSON.parse(text ?? '[]') as readonly string[];
  }

  async function exitOf(args: readonly string[]): Promise<unknown> {
    const child = spawn(process.execPath, args, { stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  }

  it('is started by a command there is', async () => {
    const [node, ...args] = words('ENTRYPOINT');
    expect(node).toBe('node');
    const own = args.map((arg) => arg.replace('/opt/ductor/node_modules/@ductor/engine/', `${ROOT}/engine/`));
    expect(await exitOf([...own, ...words('\nCMD'), '--help'])).toBe(0);
    expect(await exitOf([...own, 'no-such-command'])).not.toBe(0);
  });

  it('is found well by its check, by the probes of the pods, and by nobody when it does not answer', async () => {
    const [, ...check] = words(' CMD');
    const at = (address: string): readonly string[] => check.map((word) => word.replace('127.0.0.1:7400', address));
    expect(await exitOf(at(engine.address))).toBe(0);
    expect(await exitOf(at('127.0.0.1:1'))).toBe(1);
    const pods = documents('kubernetes/engine.yaml');
    const paths = valuesOf('httpGet', pods).flatMap((probe) => valuesOf('path', probe));
    expect(paths).toHaveLength(3);
    for (const path of paths) expect((await fetch(`http://${engine.address}${String(path)}`)).status).toBe(200);
  });
});
