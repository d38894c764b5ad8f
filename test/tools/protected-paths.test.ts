import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createEditFile } from '../../src/tools/edit-file.js';
import { createRunCommand } from '../../src/tools/run-command.js';
import { openJail } from '../../src/tools/workspace/jail.js';
import { guardCall } from '../../src/tools/workspace/protected-paths.js';
import { createWriteFile } from '../../src/tools/write-file.js';
import { hasOrSays } from '../support/has-or-says.js';
import { until } from '../support/use-workers.js';
import { commandGroups, isEmptyGroup } from './support/control-groups.js';
import { type TempWorkspace, tempWorkspace, textOf } from './support/temp-workspace.js';

const REFUSED = expect.stringMatching(/^\.refused-\d+-\d$/u);
const AGENT = '---\ndescription: An agent.\n---\nBe good.\n';

/** A project whose workspace is its own folder, as with `perdure run`, with the tools of its worker. */
async function project() {
  const workspace = await tempWorkspace();
  const paths = [join(workspace.root, 'perdure.config.ts'), join(workspace.root, 'agents', '*.md')];
  const command = createRunCommand({ sandbox: {}, protected: paths });
  return {
    workspace,
    write: (path: string) => textOf(createWriteFile(paths).execute({ path, content: 'evil' }, workspace.context())),
    edit: (path: string, oldText: string) => textOf(createEditFile(paths).execute({ path, oldText, newText: 'evil' }, workspace.context())),
    run: (text: string) => textOf(command.execute({ command: text }, workspace.context())),
  };
}

async function names(workspace: TempWorkspace, folder = '.'): Promise<string[]> {
  return (await readdir(join(workspace.root, folder))).toSorted();
}

describe('what only the owner of a project changes', () => {
  test.each([
    'perdure.config.ts',
    './x/../perdure.config.ts',
    'agents/new.md',
    '.git/hooks/pre-commit',
    '.git/config',
    '.git/objects/info/alternates',
    '.git/modules/sub/config',
    'sub/.git/hooks/post-checkout',
    '.GIT/Config',
  ])('write_file does not write %s', async (path) => {
    const { workspace, write } = await project();
    await expect(write(path)).rejects.toThrow(/^DENIED: .* can be changed only by the owner of this project/u);
    expect(await names(workspace)).toEqual([]);
  });

  test('write_file and edit_file do not reach them through a link either', async () => {
    const { workspace, write, edit } = await project();
    await workspace.put('perdure.config.ts', 'good');
    await workspace.put('agents/good.md', AGENT);
    await symlink('perdure.config.ts', join(workspace.root, 'link'));
    await symlink('agents', join(workspace.root, 'folder'));
    await expect(write('link')).rejects.toThrow(/^DENIED/u);
    await expect(write('folder/other.md')).rejects.toThrow(/^DENIED/u);
    await expect(edit('link', 'good')).rejects.toThrow(/^DENIED/u);
    await expect(edit('folder/good.md', 'good')).rejects.toThrow(/^DENIED/u);
    expect(await workspace.read('perdure.config.ts')).toBe('good');
  });

  test('other files of these names are like any other', async () => {
    const { workspace, write } = await project();
    await write('sub/perdure.config.ts');
    await write('agents/code.ts');
    await write('sub/agents/x.md');
    await write('.gitignore');
    expect(await names(workspace)).toEqual(['.gitignore', 'agents', 'sub']);
  });

  test('a command sees the config and the agents empty, and cannot change, replace or add them', async () => {
    const { workspace, run } = await project();
    await workspace.put('perdure.config.ts', 'text of the owner');
    await workspace.put('agents/good.md', AGENT);
    const tries = [
      'cat perdure.config.ts agents/good.md',
      'echo evil > perdure.config.ts',
      'echo evil > agents/good.md',
      'printf -- "---\\n---\\nevil" > agents/evil.md',
      'mv perdure.config.ts old',
      'rm -f perdure.config.ts agents/good.md',
      'true',
    ];
    const printed = await run(tries.join('; '));
    expect(printed).not.toMatch(/text of the owner|Be good/u);
    expect(await workspace.read('perdure.config.ts')).toBe('text of the owner');
    expect(await workspace.read('agents/good.md')).toBe(AGENT);
    expect(await names(workspace, 'agents')).toEqual(['good.md']);
  });

  test('a command that creates a config or an agent fails, and nothing reads what it wrote', async () => {
    const { workspace, run } = await project();
    const writing = run(
      'echo evil > perdure.config.ts; mkdir agents; printf -- "---\\n---\\nevil" > agents/evil.md; echo text > agents/code.md',
    );
    await expect(writing).rejects.toThrow(
      /^exit code 0; no output; only the owner of this project may create or replace perdure\.config\.ts, agents\/evil\.md: renamed to \.refused-\*/u,
    );
    expect(await names(workspace)).toEqual([REFUSED, 'agents']);
    expect(await names(workspace, 'agents')).toEqual([REFUSED, 'code.md']);
  });

  test('a folder of agents cannot be exchanged for another one', async () => {
    const { workspace, run } = await project();
    await workspace.put('agents/good.md', AGENT);
    const exchange = 'mv agents old; mkdir agents; printf -- "---\\n---\\nevil" > agents/good.md; true';
    expect(await run(exchange)).toContain('mv: cannot move');
    expect(await workspace.read('agents/good.md')).toBe(AGENT);
  });

  test('in a repository: hooks and config stay; git works; a repository of its own is its own', async () => {
    const { workspace, run } = await project();
    const git = (...args: string[]) => execFileSync('git', ['-C', workspace.root, ...args], { encoding: 'utf8' });
    git('init', '--quiet');
    git('config', 'user.email', 'a@example.com');
    git('config', 'user.name', 'A');
    const tries = [
      'echo text > file && git add file && git commit --quiet -m first && git log --format=%s',
      '{ git config core.hooksPath evil; echo evil > .git/hooks/pre-commit; } 2>/dev/null',
      'mkdir own && cd own && git init --quiet && git config user.name B && cat .git/config | grep -c B',
    ];
    expect(await run(tries.join('\n'))).toMatch(/^exit code 0\n(?:.*\n)*first\n1$/u);
    expect(git('config', '--get', 'user.name')).toBe('A\n');
    expect(git('config', '--list')).not.toContain('hookspath');
    expect(await names(workspace, '.git/hooks')).not.toContain('pre-commit');

    expect(await run('mv .git old; git init --quiet; git config core.fsmonitor evil; true')).toContain("cannot move '.git'");
    expect(git('config', '--list')).not.toContain('fsmonitor');
    expect(await names(workspace)).toEqual(['.git', 'file', 'own']);
  });

  test.each([
    ['.git/commondir', 'mkdir evil && echo ../evil > .git/commondir'],
    ['.git/config.worktree', 'echo evil > .git/config.worktree'],
    ['.git/modules', 'mkdir -p .git/modules/sub/hooks'],
  ])('in a repository: %s, which leads to programs of git, is not made', async (path, text) => {
    const { workspace, run } = await project();
    execFileSync('git', ['-C', workspace.root, 'init', '--quiet']);
    await expect(run(text)).rejects.toThrow(`only the owner of this project may create or replace ${path}:`);
    const [folder = '', name = ''] = path.split('/');
    expect(await names(workspace, folder)).not.toContain(name);
  });

  test.each([
    ['a config that is a link', 'echo evil > real; ln -s real perdure.config.ts', 'perdure.config.ts'],
    ['an agent that is a link', 'mkdir agents; echo evil > real; ln -s ../real agents/evil.md', 'agents/evil.md'],
    ['an agent with a byte order mark', 'mkdir agents; printf "\\357\\273\\277---\\n---\\nevil" > agents/evil.md', 'agents/evil.md'],
    ['an agent with the line ends of Windows', 'mkdir agents; printf -- "---\\r\\n---\\r\\nevil" > agents/evil.md', 'agents/evil.md'],
    [
      'an agent with a long name',
      `mkdir agents; printf -- "---\\n---\\nevil" > agents/${'e'.repeat(252)}.md`,
      `agents/${'e'.repeat(252)}.md`,
    ],
    ['an agent in a folder that is closed', 'mkdir agents; printf -- "---\\n---\\n" > agents/evil.md; chmod 555 agents', 'agents/evil.md'],
  ])('%s is set aside', async (_what, text, path) => {
    const { workspace, run } = await project();
    await expect(run(text)).rejects.toThrow(`may create or replace ${path}:`);
    const folder = path.startsWith('agents') ? 'agents' : '.';
    expect((await names(workspace, folder)).filter((name) => /config|[.]md$/u.test(name))).toEqual([]);
  });

  test('what one call wrote is not what another call, which began meanwhile, found', async () => {
    const { workspace, run } = await project();
    const first = run('echo evil > perdure.config.ts; until [ -e go ]; do sleep 0.05; done');
    await until(async () => (await names(workspace)).includes('perdure.config.ts'), 'the config');
    const second = run('until [ -e go ]; do sleep 0.05; done');
    await run('true').catch(() => undefined);
    await workspace.put('go', '');
    await Promise.allSettled([first, second]);
    expect(await names(workspace)).toEqual([REFUSED, 'go']);
  });

  test('the folder of a config below the workspace cannot be exchanged', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('app/conf/perdure.config.ts', 'text of the owner');
    const command = createRunCommand({ sandbox: {}, protected: [join(workspace.root, 'app/conf/perdure.config.ts')] });
    const text = 'mv app old; mv app/conf old; mkdir -p app/conf; echo evil > app/conf/perdure.config.ts; echo text > app/conf/other';
    await textOf(command.execute({ command: text }, workspace.context()));
    expect(await workspace.read('app/conf/perdure.config.ts')).toBe('text of the owner');
    expect(await names(workspace, 'app/conf')).toEqual(['other', 'perdure.config.ts']);
  });

  test('write_file does not follow a folder that becomes a link to the agents', async () => {
    const { workspace, write } = await project();
    await workspace.put('agents/good.md', AGENT);
    await workspace.put('docs/x', '');
    const exchange = `cd "$1"; while :; do mv docs real; ln -s agents docs; rm docs; mv real docs; done`;
    const racing = spawn('sh', ['-c', exchange, 'sh', workspace.root], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    // its output is closed when the last of its programs is gone, which may still change the folder when the shell is dead
    const ended = once(racing, 'close');
    for (let round = 0; round < 300; round += 1) await write('docs/evil.md').catch(() => undefined);
    if (racing.pid !== undefined) process.kill(-racing.pid, 'SIGKILL');
    racing.stdout.resume();
    await ended;
    expect(await names(workspace, 'agents')).toEqual(['good.md']);
  });

  test('a socket of a daemon outside the workspace does not answer a command', async () => {
    const { run } = await project();
    const folder = await mkdtemp(join(process.cwd(), 'node_modules', '.d-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const server = createServer((client) => client.end('answer of the daemon')).listen(join(folder, 's'));
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const ask = `node -e 'require("net").connect("${folder}/s").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`;
    expect(await run(ask)).toMatch(/ECONNREFUSED|ENOENT|ENOTSOCK/u);
  });

  test('in mode none, nothing is refused', async () => {
    const workspace = await tempWorkspace();
    const paths = [join(workspace.root, 'perdure.config.ts')];
    const command = createRunCommand({ sandbox: { mode: 'none' }, protected: paths });
    expect(
      await textOf(command.execute({ command: 'echo mine > perdure.config.ts; cat perdure.config.ts' }, workspace.context())),
    ).toContain('mine');
  });

  test('a command may make the repository of a workspace that has none', async () => {
    const { workspace, run } = await project();
    expect(await run('git init --quiet && git config user.name B')).toBe('exit code 0; no output');
    expect(await names(workspace, '.git')).toContain('config');
  });
});

if (process.getuid?.() !== 0) console.warn('protected-paths: not root, so a folder of mode 000 is not tried with another user');

describe('a folder of agents that the worker cannot read', () => {
  test('ends the call with an error, and its proxy and its control group are closed', async () => {
    const workspace = await tempWorkspace();
    const before = await commandGroups();
    // root can read all modes, but follows no loop
    await symlink('agents', join(workspace.root, 'agents'));
    const command = createRunCommand({
      sandbox: { network: { allow: ['example.com'] } },
      protected: [join(workspace.root, 'agents', '*.md')],
    });
    const temporary = await tempWorkspace();
    vi.stubEnv('TMPDIR', temporary.root);
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(textOf(command.execute({ command: 'touch ran' }, workspace.context()))).rejects.toThrow(
      'DENIED: what only the owner of this project changes is not readable for this worker: ',
    );
    expect(await names(workspace)).toEqual(['agents']);
    expect(await names(temporary)).toEqual([]);
    // the call has no process: groups with processes are those of other tests, whose empty ones end soon
    const made = (await commandGroups()).filter((group) => !before.includes(group));
    await until(async () => !(await Promise.all(made.map(isEmptyGroup))).includes(true), 'the end of its group');
  });

  test.runIf(hasOrSays(process.getuid?.() === 0, 'root'))('also a folder of mode 000, for a worker that is not root', async () => {
    const { workspace, run } = await project();
    await workspace.put('agents/good.md', AGENT);
    await chmod(join(workspace.root, 'agents'), 0o000);
    const [jail, paths] = [await openJail(workspace.root), [join(workspace.root, 'agents', '*.md')]];
    await chmod(workspace.root, 0o755);
    await expect(run('true')).resolves.toBe('exit code 0; no output');
    process.seteuid?.(65_534);
    const [ended] = await Promise.allSettled([guardCall(jail, paths)]).finally(() => process.seteuid?.(0));
    expect(ended).toMatchObject({ status: 'rejected', reason: { code: 'DENIED', message: expect.stringContaining('"agents"') } });
  });
});

test('workers of one process that protect different files do not take them for new ones', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'perdure-two-guards-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [mine, yours] = [join(folder, 'mine.config.ts'), join(folder, 'yours.config.ts')];
  await Promise.all([mine, yours].map((path) => writeFile(path, 'export default {};')));
  const jail = await openJail(folder);
  const first = await guardCall(jail, [mine]);
  const second = await guardCall(jail, [yours]);
  expect(await second.finish()).toEqual([]);
  expect(await first.finish()).toEqual([]);
  expect((await readdir(folder)).toSorted()).toEqual(['mine.config.ts', 'yours.config.ts']);
});
