import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { working } from '../../../src/process/sandbox/choose-sandbox.js';
import { openSandbox } from '../../../src/process/sandbox/open-sandbox.js';
import type { CommandView, Sandbox } from '../../../src/process/sandbox/sandbox.js';
import { tempWorkspace } from '../../tools/support/temp-workspace.js';
import { runUnprivileged, runWithoutNamespaces } from '../support/run-unprivileged.js';

const sandboxes: Sandbox[] = [];
for await (const sandbox of working()) sandboxes.push(sandbox);
if (sandboxes.length === 0) console.warn('no namespaces on this machine: the claims of the sandbox are not shown');

describe.each(sandboxes)('a command in a sandbox of $kind', (sandbox) => {
  /** Runs a command; returns what it printed. */
  async function run(command: string, view: Partial<CommandView> = {}): Promise<string> {
    const { root } = await tempWorkspace();
    const folder = view.folder ?? root;
    const { argv, environment } = sandbox.order(command, {
      folder,
      shown: [],
      writable: [folder],
      readOnly: [],
      hidden: [],
      network: { kind: 'none' },
      ...view,
    });
    const [program, ...args] = argv;
    const child = spawn(program, args, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
    const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return printed;
  }

  test('writes to the workspace, to its own /tmp and nowhere else', async () => {
    const { root, outside } = await tempWorkspace();
    const places = ['/etc', '/usr', homedir(), '/var', '/sys/fs', '/proc/sys/kernel', '/'];
    const writes = places.map((place) => `touch ${place}/perdure-was-here 2>/dev/null && echo wrote ${place}`).join('; ');
    const printed = await run(`exec 2>&1; echo text > here; echo text > /tmp/there; cat here /tmp/there; ls ${outside}; ${writes}; true`, {
      folder: root,
    });
    expect(printed.startsWith('text\ntext\n')).toBe(true);
    expect(printed).not.toContain('wrote');
    expect(printed).toContain('No such file');
    expect(await readFile(join(root, 'here'), 'utf8')).toBe('text\n');
    await expect(stat('/tmp/there')).rejects.toThrow('ENOENT');
  });

  test('sees an empty /tmp and /run, its own devices, and no kernel setting that it can write', async () => {
    const { root } = await tempWorkspace();
    const own = await mkdtemp(join(tmpdir(), 'perdure-seen-'));
    onTestFinished(() => rm(own, { recursive: true, force: true }));
    const printed = await run(
      `exec 2>&1; ls ${own}; ls /run; echo "devices: $(ls /dev | tr '\\n' ' ')"; (echo core > /proc/sys/kernel/core_pattern) 2>&1; echo x > /dev/null && head -c 4 /dev/urandom | wc -c`,
      { folder: root },
    );
    expect(printed).toContain(`cannot access '${own}'`);
    expect(printed).toMatch(/devices: (?:(?:console|core|fd|full|null|ptmx|pts|random|shm|stderr|stdin|stdout|tty|urandom|zero) )+\n/u);
    expect(printed).toMatch(/core_pattern: (?:Read-only file system|Permission denied)/u);
    expect(printed.trim().endsWith('4')).toBe(true);
  });

  test('a hidden file and folder are empty, and cannot be written, moved or uncovered', async () => {
    const workspace = await tempWorkspace();
    const { root } = workspace;
    await workspace.put('perdure.config.mjs', 'hidden text');
    await workspace.put('state/server.json', 'hidden text');
    const hidden = [
      { path: join(root, 'perdure.config.mjs'), isFolder: false },
      { path: join(root, 'state'), isFolder: true },
    ];
    const tries = [
      'cat perdure.config.mjs state/server.json',
      'echo evil > perdure.config.mjs',
      'echo evil > state/server.json',
      'mv perdure.config.mjs moved; mv state moved',
      'rm -rf perdure.config.mjs state',
      'umount perdure.config.mjs state',
      `unshare -rm sh -c 'umount state; umount perdure.config.mjs; cat perdure.config.mjs state/server.json'`,
      'ls -A state',
    ];
    expect(await run(tries.join('; '), { folder: root, hidden })).not.toContain('hidden text');
    expect(await workspace.read('perdure.config.mjs')).toBe('hidden text');
    expect(await workspace.read('state/server.json')).toBe('hidden text');
  });

  test('cannot make a hard link to a file outside, which file tools would follow', async () => {
    const { root } = await tempWorkspace();
    const printed = await run('exec 2>&1; ln /etc/hostname link; cp /bin/ls own && ln own second && echo linked', { folder: root });
    expect(printed).toMatch(/^ln: failed to create hard link .*(?:Invalid cross-device link|Operation not permitted)\nlinked\n$/u);
  });

  test('what is listed stays writable, also below /tmp', async () => {
    const { root, outside } = await tempWorkspace();
    await run(`echo text > ${outside}/here`, { folder: root, writable: [root, outside] });
    expect(await readFile(join(outside, 'here'), 'utf8')).toBe('text\n');
  });

  test('sees a shown folder below /tmp, which it cannot change; what is writable or hidden in it stays so', async () => {
    const { root: project } = await tempWorkspace();
    const folder = join(project, 'workspace');
    const secrets = join(project, 'secrets');
    await Promise.all([mkdir(folder), mkdir(secrets), writeFile(join(project, 'program'), 'echo ran\n')]);
    await writeFile(join(secrets, 'key'), 'secret');
    const printed = await run(`exec 2>&1; sh ../program; touch ../new ../program || echo refused; touch here; ls; ls ../secrets; true`, {
      folder,
      shown: [project],
      writable: [folder],
      hidden: [{ path: secrets, isFolder: true }],
    });
    expect(printed).toMatch(/^ran\n[^]*refused\nhere\n$/u);
    expect(printed).not.toContain('key');
  });

  test('does not see the environment of the worker, nor its processes', async () => {
    const worker = spawn('sleep', ['60'], { env: { CANARY: 'canary-of-worker' } });
    onTestFinished(() => void worker.kill('SIGKILL'));
    await once(worker, 'spawn');
    const printed = await run(`exec 2>&1; cat /proc/*/environ /proc/${worker.pid}/environ | tr '\\0' ' '; kill -9 ${worker.pid}; id -u`);
    expect(printed).not.toContain('canary-of-worker');
    expect(worker.exitCode ?? worker.signalCode).toBeNull();
  });

  test('has no capability to mount, to trace or to make devices', async () => {
    const printed = await run(
      'exec 2>&1; grep CapEff /proc/self/status; mount -t tmpfs none /mnt; mknod disk b 8 0; echo "new privileges: $(grep NoNewPrivs /proc/self/status)"',
    );
    const [, capabilities = ''] = /CapEff:\s*(?<set>[0-9a-f]+)/u.exec(printed) ?? [];
    // beyond those of files and processes of its own: sys_admin (21), sys_ptrace (19), mknod (27), net_admin (12), sys_module (16)
    const forbidden = [12, 16, 19, 21, 27].filter((bit) => (BigInt(`0x${capabilities}`) >> BigInt(bit)) & 1n);
    expect(forbidden).toEqual([]);
    expect(printed).toMatch(/new privileges: NoNewPrivs:\s+1/u);
  });

  test("starts no program of the worker's PATH outside: it may name a folder that a command can write", async () => {
    const { root, outside } = await tempWorkspace();
    const names = 'sh bash env setpriv unshare bwrap mount ip mkdir cat readlink ls sed'.split(' ');
    for (const name of names) await writeFile(join(root, name), `#!/bin/sh\necho x > ${outside}/${name}\nexit 1\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${root}:${process.env['PATH']}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    await run('true', { folder: root });
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });

  test('keeps the PATH of the worker, and may begin with a dash', async () => {
    vi.stubEnv('PATH', `/own/bin:${process.env['PATH']}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await run('echo $PATH')).toMatch(/^\/own\/bin:/u);
    expect(await run('-x 2>/dev/null || echo ran')).toBe('ran\n');
  });

  test('inherits no open file of the program that started the worker', async () => {
    const { root, outside } = await tempWorkspace();
    const file = await open(join(outside, 'log'), 'w');
    onTestFinished(() => file.close());
    const view: CommandView = { folder: root, shown: [], writable: [root], readOnly: [], hidden: [], network: { kind: 'none' } };
    const { argv, environment } = sandbox.order(
      'exec 2>/dev/null; for n in 3 4 7 12; do eval "echo evil >&$n"; done; ls /proc/self/fd',
      view,
    );
    const [program, ...args] = argv;
    const stdio: StdioOptions = ['ignore', 'pipe', 'ignore', ...Array<number>(11).fill(file.fd)];
    const child = spawn(program, args, { cwd: root, env: environment, stdio });
    const [printed] = await Promise.all([text(child.stdout as NodeJS.ReadableStream), once(child, 'close')]);
    expect(printed.split('\n').filter((name) => Number(name) > 3)).toEqual([]);
    expect(await readFile(join(outside, 'log'), 'utf8')).toBe('');
  });

  describe('and the network', () => {
    let port = 0;
    let seen = 0;
    beforeAll(async () => {
      const server = createServer((socket) => {
        seen += 1;
        socket.end('HTTP/1.0 200 OK\r\n\r\nreached');
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const address = server.address();
      port = address !== null && typeof address === 'object' ? address.port : 0;
      return () => server.close();
    });
    const ask = (): string =>
      `node -e 'require("net").connect(${port}, "127.0.0.1").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`;

    test('none: no port of this machine answers, but its own loopback works', async () => {
      const own = `node -e 'const s = require("net").createServer((c) => c.end("own")).listen(0, "127.0.0.1", () => require("net").connect(s.address().port, "127.0.0.1").on("data", (d) => { console.log(String(d)); process.exit() }))'`;
      expect(await run(`${ask()}; ${own}`)).toBe('ECONNREFUSED\nown\n');
      expect(seen).toBe(0);
    });

    test('host: the ports of this machine answer', async () => {
      expect(await run(ask(), { network: { kind: 'host' } })).toContain('reached');
    });
  });
});

test('a user who is not root has a sandbox too, in which no user namespace can be made', async () => {
  const script = `import { working } from '${new URL('../../../dist/process/sandbox/choose-sandbox.js', import.meta.url).href}';
    import { execFileSync } from 'node:child_process';
    for await (const { kind, order } of working()) {
      const view = { folder: process.argv[1], shown: [], writable: [process.argv[1]], readOnly: [], hidden: [], network: { kind: 'none' } };
      const { argv: [program, ...args], environment } = order('id -u; unshare --user true 2>/dev/null && echo nested', view);
      console.log(kind, execFileSync('sh', ['-c', '"$@" || true', 'sh', program, ...args], { env: environment, encoding: 'utf8' }).trim());
    }`;
  const { root } = await tempWorkspace();
  const printed = await runUnprivileged('--map-user=1000 --map-group=1000', '', script, root);
  const kinds = [...new Set(sandboxes.map(({ kind }) => kind))];
  expect(printed.trim().split('\n')).toEqual(kinds.map((kind) => `${kind} 1000`));
});

describe('the mode of the config', () => {
  test('none is a process tree, and sees what the worker sees', async () => {
    const { root } = await tempWorkspace();
    const sandbox = await openSandbox({ mode: 'none' });
    expect(sandbox.kind).toBe('process-tree');
    const order = sandbox.order('true', { folder: root, shown: [], writable: [], readOnly: [], hidden: [], network: { kind: 'none' } });
    expect(order.argv).toContain('true');
  });

  test('a sandbox that cannot be made here is refused, and nothing weaker runs in its place', async () => {
    const script = `import { openSandbox } from '${new URL('../../../dist/process/sandbox/open-sandbox.js', import.meta.url).href}';
      await openSandbox({}).then(({ kind }) => console.log(kind), ({ message }) => console.log(message));`;
    const printed = await runWithoutNamespaces(script);
    expect(printed).toMatch(/^SANDBOX: this worker cannot make the sandbox of commands: .* sandbox: \{ mode: 'none' \}/u);
  });
});
