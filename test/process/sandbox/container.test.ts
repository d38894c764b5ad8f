import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { chooseContainer, findEngine } from '../../../src/process/sandbox/choose-other.js';
import { containerArguments, containerSandbox } from '../../../src/process/sandbox/container.js';
import { startFilterProxy } from '../../../src/process/sandbox/filter-proxy.js';
import { commandLimits, reachedLimit } from '../../../src/process/sandbox/limits.js';
import type { CommandView } from '../../../src/process/sandbox/sandbox.js';
import { liveProcesses } from '../../tools/support/live-processes.js';
import { tempWorkspace } from '../../tools/support/temp-workspace.js';
import { runToEnd } from '../support/run-to-end.js';

// no engine runs on the machines of these tests: the program is a fake of docker's command line
console.warn('containers: tried with a fake of the engine only');

const FAKE = fileURLToPath(new URL('../fixtures/fake-docker.mjs', import.meta.url));
const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
let engines = '';

beforeAll(async () => {
  engines = await mkdtemp(join(tmpdir(), 'perdure-engine-'));
  const program = join(engines, 'docker');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${FAKE}' '${engines}' "$@"\n`);
  await chmod(program, 0o755);
  return () => rm(engines, { recursive: true });
});

function engine() {
  const found = findEngine(`/nowhere:${engines}`);
  if (!found) throw new Error('the fake was not found');
  return found;
}

async function calls(): Promise<string[][]> {
  return (await readFile(join(engines, 'calls'), 'utf8')).split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

const view = (root: string, more: Partial<CommandView> = {}): CommandView => ({
  folder: root,
  shown: [],
  writable: [root],
  readOnly: [],
  hidden: [],
  network: { kind: 'none' },
  ...more,
});

const fakeSandbox = () => containerSandbox({ engine: engine(), image: 'fake:1', user });

describe('the arguments of a container', () => {
  const limits = commandLimits({ memoryBytes: 64 * 1_024 * 1_024, processes: 20, cpuMs: 1_500, fileBytes: 2_048_000, openFiles: 64 });
  const given = view('/w', {
    writable: ['/w', '/home/me/.npm', '/w/sub'],
    readOnly: ['/w/.git/config'],
    hidden: [
      { path: '/w/agents/a.md', isFolder: false },
      { path: '/w/.perdure', isFolder: true },
      { path: '/home/me/.ssh', isFolder: true },
    ],
    limits,
  });

  test('docker, without a network: no rights, a read-only system, and nothing of the machine but what is writable', () => {
    vi.stubEnv('LANG', 'C.UTF-8');
    vi.stubEnv('TZ', undefined);
    vi.stubEnv('TERM', undefined);
    for (const name of Object.keys(process.env)) if (name.startsWith('LC_')) vi.stubEnv(name, undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(
      containerArguments({ name: 'n', view: given, user: { uid: 1_000, gid: 100 }, engine: { name: 'docker', program: '/d' } }),
    ).toEqual(
      [
        '--name n --rm --init --interactive --pull never --log-driver none --network none --ipc private --read-only --cap-drop ALL',
        '--security-opt no-new-privileges --user 1000:100 --tmpfs /tmp:rw,exec,nosuid,nodev,mode=1777,size=67108864',
        '--tmpfs /run:rw,nosuid,nodev,mode=755,size=64k --pids-limit 20 --memory 67108864b --memory-swap 67108864b',
        '--ulimit cpu=2:7 --ulimit fsize=2048000 --ulimit nofile=64 --ulimit core=0',
        '--mount type=bind,source=/w,target=/w --mount type=bind,source=/home/me/.npm,target=/home/me/.npm',
        '--mount type=bind,source=/w/sub,target=/w/sub --mount type=bind,source=/w/.git/config,target=/w/.git/config,readonly',
        '--mount type=bind,source=/dev/null,target=/w/agents/a.md,readonly --tmpfs /w/.perdure:ro,size=4k,mode=755',
        '--env LANG=C.UTF-8 --env HOME=/tmp --workdir /w',
      ]
        .join(' ')
        .split(' '),
    );
  });

  test('podman of a user keeps its ids, the network of the host is named, and the socket of a proxy is mounted', () => {
    const podman = { name: 'podman', program: '/p' } as const;
    const args = (more: Partial<CommandView>, uid = 1_000): string =>
      containerArguments({ name: 'n', view: view('/w', more), user: { uid, gid: uid }, engine: podman }).join(' ');
    expect(args({})).toContain('--user 1000:1000 --userns keep-id');
    expect(args({}, 0)).not.toContain('--userns');
    expect(args({ network: { kind: 'host' } })).toContain('--network host');
    const proxied = args({ network: { kind: 'proxy', socket: '/t/proxy.sock' } });
    expect(proxied).toContain('--network none');
    expect(proxied).toContain('--mount type=bind,source=/t/proxy.sock,target=/t/proxy.sock');
    expect(proxied).toContain('--env HTTPS_PROXY=http://127.0.0.1:3128');
  });

  test.each(['/a,b', '/a:b', '/a"b', '/a\nb'])('a path that an option cannot name is refused: %j', (path) => {
    const run = { name: 'n', view: view(path), user, engine: { name: 'docker', program: '/d' } } as const;
    expect(() => containerArguments(run)).toThrow(/^SANDBOX: .* contains a character/u);
  });
});

describe('the choice of an engine', () => {
  test('an engine with the image is used, after a container was tried', async () => {
    const { sandbox, problem } = await chooseContainer('fake:1', engine());
    expect(problem).toBeUndefined();
    expect(sandbox?.kind).toBe('container');
  });

  test('nothing is downloaded: without the image, and without an engine, there is no sandbox', async () => {
    expect(await chooseContainer('missing:1', engine())).toEqual({
      problem: 'docker does not run a container of missing:1: docker: Error response from daemon: No such image: missing:1',
    });
    expect(await chooseContainer('fake:1', findEngine('/nowhere'))).toEqual({
      problem: 'mode container needs podman or docker in a folder of the system',
    });
  });
});

describe('a command in a container', () => {
  test('writes to the workspace; sees what is protected empty or read-only; its container is removed at the end', async () => {
    const workspace = await tempWorkspace();
    const { root } = workspace;
    await workspace.put('agent.md', 'secret');
    await workspace.put('config', 'good');
    await mkdir(join(root, 'state/inside'), { recursive: true });
    const command = `echo made > file; cat agent.md; ls state; echo evil > config; touch /usr/x; touch state/x; echo "in $PWD, $HOME"; exit 3`;
    const hidden = [
      { path: join(root, 'agent.md'), isFolder: false },
      { path: join(root, 'state'), isFolder: true },
    ];
    const { output, ...end } = await runToEnd(fakeSandbox().order(command, view(root, { hidden, readOnly: [join(root, 'config')] })), root);
    expect(end).toEqual({ endedBy: 'itself', exitCode: 3 });
    expect(output).toMatch(new RegExp(`^(?:.*(?:Read-only file system|Permission denied)\\n){4}in ${root}, /tmp\\n$`, 'u'));
    expect(await workspace.read('file')).toBe('made\n');
    expect(await workspace.read('config')).toBe('good');
    expect((await calls()).at(-1)).toEqual(['rm', '--force', '--volumes', expect.stringMatching(/^perdure-[0-9a-f-]{36}$/u)]);
  });

  test('reaches only allowed hosts, through the proxy', async () => {
    const server = createServer((_, response) => response.end('answer')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const proxy = await startFilterProxy([`127.0.0.1:${port}`]);
    onTestFinished(() => proxy.close());
    const { root } = await tempWorkspace();
    const ask = `http.get({ host: "127.0.0.1", port: 3128, path: process.argv[1] }, (r) => r.on("data", (d) => console.log(r.statusCode, String(d).trim())))`;
    const command = [`http://127.0.0.1:${port}/`, 'http://other.example/'].map((url) => `node -e '${ask}' ${url}`).join('; ');
    const { output } = await runToEnd(fakeSandbox().order(command, view(root, { network: { kind: 'proxy', socket: proxy.socket } })), root);
    expect(output).toBe('200 answer\n403 perdure sandbox: other.example:80 is not in sandbox.network.allow\n');
  });

  test.each([
    ['fileBytes', 'head -c 4000000 /dev/zero > big', { fileBytes: 2_048_000 }],
    ['cpuMs', 'while :; do :; done', { cpuMs: 1_000 }],
    ['openFiles', 'node -e \'for (;;) fs.openSync("/dev/null")\' 2>&1 | grep -o "EMFILE.*open files" | head -1; exit 1', { openFiles: 64 }],
    // what the kernel does to a process that takes more memory than its container has
    ['memoryBytes', 'kill -KILL $$', {}],
  ] as const)('a limit that it reached is named: %s', async (name, command, given) => {
    const { root } = await tempWorkspace();
    const { output, exitCode, endedBy } = await runToEnd(fakeSandbox().order(command, view(root, { limits: commandLimits(given) })), root);
    expect(endedBy).toBe('itself');
    expect(reachedLimit(exitCode, output.trimEnd().split('\n').at(-1) ?? '', true)).toBe(name);
  });

  test('is killed with its container, also when it ignores the signal', async () => {
    const { root } = await tempWorkspace();
    const seconds = `${randomInt(100_000, 999_999)}.5`;
    const order = fakeSandbox().order(`trap '' TERM; sleep ${seconds} & touch started; sleep ${seconds}; sleep ${seconds}`, view(root));
    const controller = new AbortController();
    const ending = runToEnd(order, root, controller.signal);
    // its client and its shell run before the shell ignores the signal
    await vi.waitFor(() => expect(existsSync(join(root, 'started'))).toBe(true), { timeout: 20_000 });
    expect((await liveProcesses(seconds)).length).toBeGreaterThan(2);
    controller.abort();
    expect(await ending).toMatchObject({ endedBy: 'abort', exitCode: 137 });
    await vi.waitFor(async () => expect(await liveProcesses(seconds)).toEqual([]), { timeout: 20_000 });
  });

  test('ends when its worker dies, although a container outlives its client', async () => {
    const { root } = await tempWorkspace();
    const seconds = `${randomInt(100_000, 999_999)}.5`;
    const { argv, environment } = fakeSandbox().order(`sleep ${seconds} & sleep ${seconds}`, view(root));
    const child = spawn(argv[0], argv.slice(1), { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
    if (!child.stdout) throw new Error('no output');
    const printed = text(child.stdout);
    await vi.waitFor(async () => expect((await liveProcesses(seconds)).length).toBeGreaterThan(2), { timeout: 20_000 });
    // what the kernel does with the pipe of a process that died
    child.stdio[3]?.destroy();
    await printed;
    await vi.waitFor(async () => expect(await liveProcesses(seconds)).toEqual([]), { timeout: 10_000 });
  });
});
