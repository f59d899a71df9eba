// Refuses a change of proto/ that would break clients in the field (buf's WIRE_JSON rules), against the branch main,
// or against $DUCTOR_PROTO_BASE (any git revision). Only the module proto/ is compared, as an image: buf.yaml has a
// second module in node_modules, which a saved image cannot hold. Says so and passes where there is nothing to compare
// with: no git, a shallow clone without main, or a main without proto/. --root DIR: compare the project there.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT, runTool } from './lib/tool.mjs';

const rootAt = process.argv.indexOf('--root');
const root = rootAt === -1 ? ROOT : process.argv[rootAt + 1];

/** Runs git in the project; undefined when it fails or is not installed. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? stdout : undefined;
}

/** Full id of the commit to compare with, or undefined. */
function baseCommit() {
  const asked = process.env.DUCTOR_PROTO_BASE;
  const names = asked ? [asked] : ['refs/heads/main', 'refs/remotes/origin/main'];
  for (const name of names) {
    const id = git('rev-parse', '--verify', '--quiet', `${name}^{commit}`)?.toString().trim();
    if (id) return id;
  }
  if (asked) {
    console.error(`DUCTOR_PROTO_BASE=${asked} is no revision of this repository`);
    process.exit(1);
  }
  return undefined;
}

/** Writes proto/ of the commit and google/api into a folder that buf can build; false without proto files. */
function layBase(commit, folder) {
  const listed = git('ls-tree', '-r', '--name-only', '-z', commit, 'proto/') ?? Buffer.alloc(0);
  const paths = listed
    .toString()
    .split('\0')
    .filter((path) => path.endsWith('.proto'));
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), git('show', `${commit}:${path}`) ?? '');
  }
  const google = 'node_modules/protobufjs/google/api';
  cpSync(join(root, google), join(folder, google), { recursive: true });
  cpSync(join(root, 'buf.yaml'), join(folder, 'buf.yaml'));
  return paths.length > 0;
}

const commit = baseCommit();
if (commit === undefined) {
  console.log('proto:breaking: no branch main to compare with, passed');
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'ductor-breaking-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
if (!layBase(commit, folder)) {
  console.log(`proto:breaking: ${commit.slice(0, 10)} has no proto/, passed`);
  process.exit(0);
}
const image = join(folder, 'base.binpb');
const built = runTool('buf', ['build', 'proto', '-o', image], { cwd: folder });
const compared = built.status === 0 ? runTool('buf', ['breaking', 'proto', '--against', image], { cwd: root }) : built;
if (compared.status === 0) console.log(`proto:breaking: compatible with ${commit.slice(0, 10)}`);
process.exit(compared.status);
