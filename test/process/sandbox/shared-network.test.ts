import { execFile } from 'node:child_process';
import { chown, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { builtFolder } from '../../support/built-package.js';
import { hasOrSays } from '../../support/has-or-says.js';

const NOBODY = 65_534;

/** In each sandbox that works: a server in a new network, a command that joins it, one that is not in it, and one whose network is gone. */
const SCRIPT = `
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
const { working } = await import(process.argv[2] + '/process/sandbox/choose-sandbox.js');
const { inNetwork, networkOf, isLiveNetwork, canShareNetwork } = await import(process.argv[2] + '/process/sandbox/shared-network.js');
const folder = process.argv[1];
const view = { folder, writable: [folder], readOnly: [], hidden: [], shown: [] };
const GET = \`exec 2>&1; node -e 'fetch("http://127.0.0.1:3000").then((r) => r.text()).then(console.log, (e) => console.log(e.cause.code))'\`;
const SERVE = \`exec node -e 'require("http").createServer((_, r) => r.end("served")).listen(3000, "127.0.0.1", () => console.log("up"))'\`;
const start = (argv, environment) => spawn(argv[0], argv.slice(1), { cwd: folder, env: environment, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
const run = async (order, sharing) => {
  const child = start(sharing ? inNetwork(order.argv, sharing) : order.argv, order.environment);
  return (await Promise.all([text(child.stdout), once(child, 'close')]))[0].trim();
};
console.log('can share', await canShareNetwork());
for await (const { kind, order } of working()) {
  const shared = { ...view, network: { kind: 'none', isShared: true } };
  const server = order(SERVE, shared);
  const child = start(inNetwork(server.argv, { kind: 'create' }), server.environment);
  await once(child.stdout, 'data');
  const network = networkOf(child.pid);
  console.log(kind, 'joined', await run(order(GET, shared), { kind: 'join', network }));
  console.log(kind, 'own', await run(order(GET, { ...view, network: { kind: 'none' } })));
  const change = 'ip link set lo down 2>/dev/null && echo changed || echo kept';
  console.log(kind, 'loopback', await run(order(change, shared), { kind: 'join', network }));
  console.log(kind, 'other', await run(order(GET, shared), { kind: 'join', network: { ...network, inode: '1' } }));
  process.kill(-child.pid, 'SIGKILL');
  await once(child, 'exit');
  console.log(kind, 'live', isLiveNetwork(network));
}`;

const expected = (kind: string): string =>
  [
    `${kind} joined served`,
    `${kind} own ECONNREFUSED`,
    `${kind} loopback kept`,
    `${kind} other SANDBOX: the network of this run is gone`,
    `${kind} live false`,
  ].join('\n');

describe('a network that the commands of a run share', () => {
  test('is reached by those that join it, and by no other; its commands cannot change it', async () => {
    const folder = await scratch();
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT, folder, builtFolder()]);
    // root has two forms of one kind
    expect([...new Set(stdout.trimEnd().split('\n'))].join('\n')).toBe(
      ['can share true', expected('bubblewrap'), expected('unshare')].join('\n'),
    );
  });

  test.runIf(hasOrSays(process.getuid?.() === 0, 'root'))('is made and joined without rights of root too', async () => {
    const folder = await scratch();
    await chown(folder, NOBODY, NOBODY);
    builtFolder();
    const mount = 'mount --bind "$1" /mnt && shift && exec "$@"';
    const become = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
    const node = [process.execPath, '--input-type=module', '-e', SCRIPT, folder, '/mnt/dist'];
    const { stdout } = await promisify(execFile)('unshare', ['--mount', 'sh', '-c', mount, 'sh', process.cwd(), ...become, ...node], {
      env: { ...process.env, HOME: folder },
    });
    expect(stdout.trimEnd()).toContain(['can share true', expected('bubblewrap')].join('\n'));
    expect(stdout).toContain(expected('unshare'));
  });
});

async function scratch(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'perdure-network-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
