import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ProcessOrder } from '../../../src/process/process-tree.js';
import { chooseSandbox } from '../../../src/process/sandbox/open-sandbox.js';
import type { CommandNetwork, CommandView } from '../../../src/process/sandbox/sandbox.js';
import { seatbeltProfile, seatbeltSandbox } from '../../../src/process/sandbox/seatbelt.js';
import { hasOrSays } from '../../support/has-or-says.js';
import { tempWorkspace } from '../../tools/support/temp-workspace.js';
import { runToEnd } from '../support/run-to-end.js';

// sandbox-exec exists on macOS only: elsewhere, a fake notes the profile and runs the command without it
console.warn('seatbelt: the profile was not tried on macOS');

let programs = '';
let temporary = '';

beforeAll(async () => {
  programs = await mkdtemp(join(tmpdir(), 'perdure-seatbelt-'));
  temporary = await mkdtemp(join(tmpdir(), 'perdure-own-'));
  await writeFile(
    join(programs, 'sandbox-exec'),
    `#!/bin/sh\n[ "$1$3" = -D-p ] || exit 64\nprintf '%s\\n' "$2" "$4" > '${programs}/seen'\nshift 4\nexec "$@"\n`,
  );
  await chmod(join(programs, 'sandbox-exec'), 0o755);
  return () => Promise.all([programs, temporary].map((folder) => rm(folder, { recursive: true })));
});

const VIEW: CommandView = {
  folder: '/w',
  shown: [],
  writable: ['/w', '/Users/me/.npm'],
  readOnly: ['/w/.git/config'],
  hidden: [
    { path: '/w/a "quoted"\\name.md', isFolder: false },
    { path: '/Users/me/.ssh', isFolder: true },
  ],
  network: { kind: 'none' },
};

describe('the profile of sandbox-exec', () => {
  test('denies by default; writes go to the workspace and an own folder; what is protected is not read, and its folders keep their names', () => {
    const profile = seatbeltProfile(VIEW);
    expect(profile).toMatch(/^\(version 1\)\n\(deny default\)\n/u);
    // of the rules that match, the last one counts
    const [, ofFiles = ''] = profile.split('(allow file-read*)\n');
    expect(ofFiles.replace(/\(allow file-write\* file-ioctl[^]*?\n\(deny/u, '…\n(deny')).toBe(
      [
        '(allow file-write*',
        '  (subpath "/w")',
        '  (subpath "/Users/me/.npm")',
        '  (subpath (param "OWN")))',
        '…',
        '(deny file-write*',
        '  (subpath "/w/.git/config"))',
        '(deny file-read* file-write*',
        String.raw`  (literal "/w/a \"quoted\"\\name.md")`,
        '  (subpath "/Users/me/.ssh"))',
        '(deny file-write-unlink',
        '  (literal "/w")',
        '  (literal "/w/.git"))',
        '',
      ].join('\n'),
    );
    expect(profile.split('(').length).toBe(profile.split(')').length);
  });

  test.each<readonly [CommandNetwork, readonly string[]]>([
    [{ kind: 'none' }, []],
    [{ kind: 'host' }, ['(allow network*)']],
    [{ kind: 'proxy', socket: '/s' }, ['(allow network-outbound (remote ip "localhost:PORT"))']],
  ])('network %j', (network, rules) => {
    const found = seatbeltProfile({ ...VIEW, network }).split('\n');
    expect(found.filter((line) => line.includes('network'))).toEqual(rules);
    expect(found.some((line) => line.includes('"com.apple.trustd"'))).toBe(network.kind !== 'none');
  });

  test('a path with a control character is refused', () => {
    expect(() => seatbeltProfile({ ...VIEW, writable: ['/w\n(allow default)'] })).toThrow(/^SANDBOX: .* contains a control character/u);
  });
});

function order(command: string, folder: string, network: CommandNetwork = { kind: 'none' }): ProcessOrder {
  const { environment, ...rest } = seatbeltSandbox({ shell: 'bash', temporary }).order(command, {
    ...VIEW,
    folder,
    writable: [folder],
    network,
  });
  return { ...rest, environment: { ...environment, PATH: `${programs}:${environment['PATH']}` } };
}

describe('a command of sandbox-exec', () => {
  test('has a temporary folder of its own, which is removed, and gives its exit code and output', async () => {
    const { root } = await tempWorkspace();
    const { output, ...end } = await runToEnd(order('echo x > "$TMPDIR/x"; echo "$TMPDIR"; echo error >&2; exit 3', root), root);
    expect(end).toEqual({ endedBy: 'itself', exitCode: 3 });
    const [own, ...others] = output.split('\n');
    expect(others).toEqual(['error', '']);
    const [parameter, ...profile] = (await readFile(join(programs, 'seen'), 'utf8')).split('\n');
    expect(parameter).toBe(`OWN=${own}`);
    expect(profile.join('\n')).toContain(`(subpath "${root}")`);
    expect(await readdir(temporary)).toEqual([]);
  });

  test('finds the proxy on a port of its own, which its profile names', async () => {
    const { root } = await tempWorkspace();
    const { output } = await runToEnd(order('echo "$https_proxy"', root, { kind: 'proxy', socket: '/nothing/there' }), root);
    const [port] = /(?<=^http:\/\/127\.0\.0\.1:)\d+(?=\n$)/u.exec(output) ?? [];
    expect(port).not.toBe('3128');
    expect(await readFile(join(programs, 'seen'), 'utf8')).toContain(`(allow network-outbound (remote ip "localhost:${port}"))`);
  });

  test('is killed with its temporary folder', async () => {
    const { root } = await tempWorkspace();
    const controller = new AbortController();
    const ending = runToEnd(order('touch started; sleep 60', root), root, controller.signal);
    await expect.poll(() => readdir(root)).toEqual(['started']);
    controller.abort();
    expect(await ending).toMatchObject({ endedBy: 'abort' });
    expect(await readdir(temporary)).toEqual([]);
  });

  test.runIf(hasOrSays(process.platform !== 'darwin', 'system other than macOS'))('is refused on another system', async () => {
    expect(await chooseSandbox({ mode: 'seatbelt' })).toEqual({ problem: 'mode seatbelt is for macOS' });
  });
});
