import { execFile } from 'node:child_process';
import { chown, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/contracts/schemas/message.js';
import type { SandboxDefinition } from '../../src/define/worker/sandbox.js';
import { openControlGroup } from '../../src/process/sandbox/control-group.js';
import { commandLimits } from '../../src/process/sandbox/limits.js';
import { createRunCommand } from '../../src/tools/run-command.js';
import { hasOrSays } from '../support/has-or-says.js';
import { commandGroups } from './support/control-groups.js';
import { tempWorkspace, textOf } from './support/temp-workspace.js';

const MIB = 1_024 * 1_024;
const BOMB = 'bomb() { bomb | bomb & }; bomb; sleep 30';
const MEMORY = `node -e 'const all = []; for (;;) all.push(Buffer.alloc(${8 * MIB}, 1))'`;

const tool = (limits: SandboxDefinition['limits']) => createRunCommand({ sandbox: { limits }, protected: [] });

/** The result of a command that fails, or that is stopped when its output has a line like `stopAt`. */
async function failing(command: string, limits: SandboxDefinition['limits'], stopAt?: RegExp): Promise<string> {
  const workspace = await tempWorkspace();
  const stop = new AbortController();
  const heartbeat = (details: JsonValue): void => {
    if (stopAt?.test(JSON.stringify(details))) stop.abort();
  };
  const context = workspace.context({ signal: stop.signal, heartbeat });
  const running = textOf(tool(limits).execute({ command, timeoutMs: 60_000 }, context));
  return await running.then(
    (text) => expect.unreachable(`did not fail: ${text}`),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

const NOBODY = 65_534;
if (process.getuid?.() !== 0) console.warn('not root: the limits of another user are not shown');

const group = await openControlGroup(commandLimits());
await group?.close();
if (!group) console.warn('no control groups on this machine: only resource limits are shown');

const module = (path: string): string => `file:///mnt/dist/${path}`;

describe('X12: the limits of a command', () => {
  test('one file', async () => {
    const workspace = await tempWorkspace();
    const writing = textOf(tool({ fileBytes: 4 * MIB }).execute({ command: 'head -c 10000000000 /dev/zero > big' }, workspace.context()));
    await expect(writing).rejects.toThrow(/^exit code 153; .*reached its limit of 4(?:\.0)? MiB for one file/u);
    expect((await stat(join(workspace.root, 'big'))).size).toBe(4 * MIB);
  });

  test('one file, of a program that reports it itself', async () => {
    const command = `node -e 'fs.writeFileSync("big", Buffer.alloc(${8 * MIB}))'; code=$?; echo "write failed: File too large"; exit $code`;
    expect(await failing(command, { fileBytes: 4 * MIB })).toMatch(/^exit code 1; reached its limit of 4(?:\.0)? MiB for one file/u);
  });

  test('CPU time', async () => {
    expect(await failing('while :; do :; done', { cpuMs: 1_000 })).toMatch(/^exit code 152; .*reached its limit of 1 s of CPU time/u);
  });

  test('open files', async () => {
    const command = `node -e 'for (;;) fs.openSync("/dev/null")' 2>&1 | grep -o "EMFILE.*open files" | head -1; exit 1`;
    expect(await failing(command, { openFiles: 64 })).toMatch(/^exit code 1; reached its limit of 64 open files/u);
  });

  test.runIf(hasOrSays(group !== undefined, 'control group for this user'))(
    'processes, in a control group: a fork bomb ends with its call',
    async () => {
      expect(await failing(BOMB, { processes: 64 }, /fork/u)).toMatch(/^stopped before it finished; .*reached its limit of 64 processes/u);
    },
  );

  test.runIf(hasOrSays(group !== undefined, 'control group for this user'))(
    'memory, in a control group: of all processes together',
    async () => {
      const each = `node -e 'const all = []; for (let n = 0; n < 12; n++) all.push(Buffer.alloc(${8 * MIB}, 1)); setTimeout(() => 0, 20000)'`;
      expect(await failing(`${each} & ${each} & ${each} & wait -n; exit 1`, { memoryBytes: 192 * MIB })).toMatch(
        /reached its limit of 192(?:\.0)? MiB of memory/u,
      );
    },
  );

  test.runIf(hasOrSays(group !== undefined, 'control group for this user'))('files in /tmp, with the memory', async () => {
    const printed = await failing('head -c 200000000 /dev/zero > /tmp/big', { memoryBytes: 64 * MIB });
    expect(printed).toMatch(/No space left on device|reached its limit of 64(?:\.0)? MiB of memory/u);
  });

  test.runIf(hasOrSays(group !== undefined, 'control group for this user'))(
    'a group ends with its command, and so does one that was stopped',
    async () => {
      const ended = await Promise.all([
        failing('setsid sleep 60 & cat /proc/self/cgroup; exit 1', {}),
        failing('cat /proc/self/cgroup; sleep 60', {}, /lastLine/u),
      ]);
      expect(ended).toEqual([expect.stringMatching(/^exit code 1\n/u), expect.stringMatching(/^stopped before it finished; /u)]);
      const names = ended.map((text) => /perdure-[0-9a-f-]{36}/u.exec(text)?.[0]);
      expect(names).toEqual([expect.any(String), expect.any(String)]);
      expect(new Set(names).size).toBe(2);
      const left = (await commandGroups()).map((folder) => basename(folder));
      for (const name of names) expect(left).not.toContain(name);
    },
  );

  test.runIf(hasOrSays(process.getuid?.() === 0, 'root'))(
    'without a control group, a user who is not root has the same limits, and memory for each process',
    async () => {
      const { root } = await tempWorkspace();
      await Promise.all([dirname(root), root].map((folder) => chown(folder, NOBODY, NOBODY)));
      const script = `import { createRunCommand } from '${module('tools/run-command.js')}';
      import { openControlGroup } from '${module('process/sandbox/control-group.js')}';
      import { commandLimits } from '${module('process/sandbox/limits.js')}';
      console.log('group', await openControlGroup(commandLimits()));
      const output = { collect: () => { const said = []; return { get bytes() { return said.join('').length }, write: (piece) => { said.push(String(piece)); return Promise.resolve() }, lastLine: () => said.join('').trimEnd().split('\\n').at(-1), finish: async (first) => first }; } };
      const run = async (limits, command) => {
        const tool = createRunCommand({ sandbox: { limits }, protected: [] });
        const stop = new AbortController();
        const heartbeat = ({ lastLine }) => lastLine.includes('fork') && stop.abort();
        const context = { workspace: process.argv[1], output, signal: stop.signal, heartbeat };
        console.log(await tool.execute({ command, timeoutMs: 60_000 }, context).then(String, ({ message }) => message));
      };
      await run({ processes: 32 }, ${JSON.stringify(BOMB)});
      await run({ memoryBytes: ${256 * MIB} }, ${JSON.stringify(`${MEMORY} 2>&1 | grep -v "^ " | head -3; echo out of memory; exit 1`)});`;
      // root of a user namespace is no user of whom the kernel limits processes
      const hide = 'mount -t tmpfs none /sys/fs/cgroup && mount --bind "$1" /mnt && shift && exec "$@"';
      const become = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
      const node = [process.execPath, '--input-type=module', '-e', script, root];
      const options = { env: { ...process.env, HOME: root } };
      const { stdout } = await promisify(execFile)(
        'unshare',
        ['--mount', 'sh', '-c', hide, 'sh', process.cwd(), ...become, ...node],
        options,
      );
      expect(stdout).toMatch(
        /^group undefined\nstopped before it finished; .*reached its limit of 32 processes\nexit code 1; reached its limit of 256(?:\.0)? MiB of memory\n$/u,
      );
    },
  );
});
