import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, copyFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { commandEnvironment } from '../../../src/process/command-sandbox.js';
import { working } from '../../../src/process/sandbox/choose-sandbox.js';
import { openControlGroup } from '../../../src/process/sandbox/control-group.js';
import { commandLimits } from '../../../src/process/sandbox/limits.js';
import type { CommandView, Sandbox } from '../../../src/process/sandbox/sandbox.js';
import { hasOrSays } from '../../support/has-or-says.js';
import { SECRET, tempWorkspace } from '../../tools/support/temp-workspace.js';
import { runToEnd } from '../support/run-to-end.js';

const sandboxes: Sandbox[] = [];
for await (const sandbox of working()) sandboxes.push(sandbox);
if (sandboxes.length === 0) console.warn('no namespaces on this machine: escapes are not tried');

const NOBODY = 65_534;

const group = await openControlGroup(commandLimits());
await group?.close();

const view = (root: string, more: Partial<CommandView> = {}): CommandView => ({
  folder: root,
  writable: [root],
  readOnly: [],
  hidden: [],
  shown: [],
  network: { kind: 'none' },
  ...more,
});

describe.each(sandboxes)('a way out of a sandbox of $kind', (sandbox) => {
  /** Runs a command; returns what it printed. */
  async function run(command: string, root?: string): Promise<string> {
    const folder = root ?? (await tempWorkspace()).root;
    return (await runToEnd(sandbox.order(command, view(folder)), folder)).output;
  }

  test('shared memory of other programs, by name and by number, is not there', async () => {
    const file = `/dev/shm/perdure-${process.pid}`;
    await writeFile(file, 'shared text');
    onTestFinished(() => rm(file));
    const made = execFileSync('ipcmk', ['--shmem', '4096'], { encoding: 'utf8' });
    const id = /\d+/u.exec(made)?.[0] ?? '';
    onTestFinished(() => void execFileSync('ipcrm', ['--shmem-id', id]));
    expect(execFileSync('ipcs', ['-m'], { encoding: 'utf8' })).toContain(` ${id} `);
    const printed = await run(`cat ${file}; ipcs -m; ipcrm --shmem-id ${id}; echo evil > ${file}; true`);
    expect(printed).not.toMatch(new RegExp(`shared text| ${id} `, 'u'));
    expect(await readFile(file, 'utf8')).toBe('shared text');
    expect(execFileSync('ipcs', ['-m'], { encoding: 'utf8' })).toContain(` ${id} `);
  });

  test('/proc/sysrq-trigger, which restarts a machine, is not writable', async () => {
    // the letter for help: it only prints
    expect(await run('(echo h > /proc/sysrq-trigger) 2>&1 && echo wrote')).toMatch(/Read-only file system|Permission denied|No such file/u);
  });

  test.runIf(hasOrSays(process.getuid?.() === 0, 'root'))('a set-user-ID program gets no other rights', async () => {
    const { root } = await tempWorkspace();
    const program = join(root, 'who');
    await copyFile('/usr/bin/id', program);
    await chown(program, NOBODY, NOBODY);
    await chmod(program, 0o4755);
    expect(execFileSync(program, ['-u'], { encoding: 'utf8' })).toBe(`${NOBODY}\n`);
    expect(await run('./who -u', root)).toBe('0\n');
  });

  test('the clock and the name of the machine cannot be set', async () => {
    const before = hostname();
    const printed = await run('exec 2>&1; hostname evil && echo named; date --set="2001-01-01" && echo set; true');
    expect(printed).not.toMatch(/^set$/mu);
    expect(hostname()).toBe(before);
    expect(new Date().getUTCFullYear()).toBeGreaterThan(2_001);
  });

  test('/proc/1/root, and the folders of other processes, lead to no file outside', async () => {
    const { root, outside } = await tempWorkspace();
    const sleeping = spawn('sleep', ['60'], { cwd: outside });
    onTestFinished(() => void sleeping.kill('SIGKILL'));
    await once(sleeping, 'spawn');
    const printed = await run(
      `exec 2>&1; cat /proc/1/root${outside}/secret.txt /proc/*/root${outside}/secret.txt /proc/*/cwd/secret.txt /proc/${sleeping.pid}/cwd/secret.txt; echo tried`,
      root,
    );
    expect(printed).toContain('tried');
    expect(printed).not.toContain(SECRET);
  });

  test('LD_PRELOAD, BASH_ENV, ENV and NODE_OPTIONS of the worker start nothing outside', async () => {
    const { root, outside } = await tempWorkspace();
    await writeFile(join(root, 'evil.sh'), `echo x > ${outside}/from-shell\n`);
    await writeFile(join(root, 'evil.cjs'), `require('node:fs').writeFileSync('${outside}/from-node', 'x');\n`);
    for (const name of ['BASH_ENV', 'ENV']) vi.stubEnv(name, join(root, 'evil.sh'));
    vi.stubEnv('NODE_OPTIONS', `--require ${join(root, 'evil.cjs')}`);
    vi.stubEnv('LD_PRELOAD', join(root, 'evil.so'));
    vi.stubEnv('PERL5OPT', '-Mevil');
    vi.stubEnv('PYTHONSTARTUP', join(root, 'evil.py'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const { environment } = sandbox.order('true', view(root));
    expect(Object.keys(environment).filter((name) => !Object.hasOwn(commandEnvironment(process.env), name))).toEqual([]);
    // ld.so would report that it cannot load the library
    expect(await run('node -e 1; env | grep -E "LD_|BASH_ENV|NODE_OPTIONS|PERL|PYTHON|^ENV"; echo ran', root)).toBe('ran\n');
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });

  test.runIf(hasOrSays(process.platform === 'linux', 'abstract sockets'))(
    'an abstract socket of a daemon, which is no file, does not answer',
    async () => {
      const name = `perdure-${process.pid}-${sandbox.shell}`;
      let asked = 0;
      const server = createServer((client) => {
        asked += 1;
        client.end('answer of the daemon');
      }).listen(`\0${name}`);
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const ask = `node -e 'require("net").connect("\\0${name}").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`;
      expect((await promisify(execFile)('bash', ['-c', ask])).stdout).toBe('answer of the daemon\n');
      expect(await run(ask)).toBe('ECONNREFUSED\n');
      expect(asked).toBe(1);
    },
  );

  test.runIf(hasOrSays(group !== undefined, 'control group for this user'))('a command stays in its control group', async () => {
    const { root } = await tempWorkspace();
    const own = await openControlGroup(commandLimits());
    onTestFinished(async () => void (await own?.close()));
    const leave =
      'exec 2>/dev/null; before=$(cat /proc/self/cgroup); for f in $(find /sys/fs/cgroup -name cgroup.procs -o -name tasks); do echo $$ > "$f" && echo "left by $f"; done; mkdir /sys/fs/cgroup/evil && echo made; [ "$before" = "$(cat /proc/self/cgroup)" ] && echo stays';
    const order = sandbox.order(leave, { ...view(root), limits: commandLimits(), isGrouped: true });
    const { output } = await runToEnd({ ...order, argv: own?.enter(order.argv) ?? order.argv }, root);
    expect(output).toBe('stays\n');
  });
});

test('without a sandbox, the folder of another process leads to files outside: the attempts above would succeed', async () => {
  const { outside } = await tempWorkspace();
  const sleeping = spawn('sleep', ['60'], { cwd: outside });
  onTestFinished(() => void sleeping.kill('SIGKILL'));
  await once(sleeping, 'spawn');
  const { stdout } = await promisify(execFile)('cat', [`/proc/${sleeping.pid}/cwd/secret.txt`]);
  expect(stdout).toBe(SECRET);
});
