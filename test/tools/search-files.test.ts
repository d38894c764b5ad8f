import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listFiles } from '../../src/tools/list-files.js';
import { searchFiles } from '../../src/tools/search-files.js';
import { tempWorkspace, textOf } from './support/temp-workspace.js';

/** Takes longer than the age of the universe with a backtracking matcher. */
const BOMB = { pattern: '^(a+)+$', text: `${'a'.repeat(100)}!` };

describe('search_files', () => {
  test('each matching line comes back with path and number', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', 'one\ntwo\r\nTWO\n');
    await workspace.put('src/b.md', 'x\n  two\n');
    await workspace.put('.git/config', 'two');
    await workspace.put('.perdure/x', 'two');
    const search = (args: { pattern: string; path?: string; glob?: string }): unknown => searchFiles.execute(args, workspace.context());
    expect(await search({ pattern: '^\\s*tw[o]' })).toBe('a.txt:2: two\nsrc/b.md:2:   two');
    expect(await search({ pattern: '(?i)two', glob: '*.txt' })).toBe('a.txt:2: two\na.txt:3: TWO');
    expect(await search({ pattern: 'two', path: 'src' })).toBe('src/b.md:2:   two');
    expect(await search({ pattern: 'two', path: 'a.txt' })).toBe('a.txt:2: two');
    expect(await search({ pattern: 'three' })).toBe('[no matches]');
  });

  test('600 folders in each other, and a folder that cannot be read, are skipped and told', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', 'two');
    await workspace.put('z.txt', 'two');
    // longer than a path may be
    execFileSync('perl', ['-e', 'for (0..599) { mkdir "folder-$_"; chdir "folder-$_" or die }'], { cwd: workspace.root });
    onTestFinished(() => void execFileSync('rm', ['-rf', workspace.root]));
    expect(await searchFiles.execute({ pattern: 'two' }, workspace.context())).toBe(
      '[some folders could not be read]\na.txt:1: two\nz.txt:1: two',
    );
    expect(await listFiles.execute({ glob: '*.txt' }, workspace.context())).toBe('[some folders could not be read]\na.txt\nz.txt');
  });

  test('a catastrophic pattern is stopped and named, and the event loop runs on meanwhile', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', BOMB.text);
    const loop = monitorEventLoopDelay({ resolution: 10 });
    loop.enable();
    await expect(searchFiles.execute({ pattern: BOMB.pattern }, workspace.context())).rejects.toThrow(
      /^PATTERN_TOO_SLOW: .*more than 5s for "a\.txt";/u,
    );
    loop.disable();
    expect(loop.max / 1e6).toBeLessThan(4_000);
  });

  test('a cancel reaches a search inside a catastrophic pattern', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', BOMB.text);
    await expect(searchFiles.execute({ pattern: BOMB.pattern }, workspace.context({ signal: AbortSignal.timeout(200) }))).rejects.toThrow(
      /aborted due to timeout/u,
    );
  });

  test('no regular expression, a path outside and a state file are refused', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('.perdure/x', 'two');
    const search = (pattern: string, path: string): unknown => searchFiles.execute({ pattern, path }, workspace.context());
    await expect(search('(', '.')).rejects.toThrow(/^BAD_PATTERN: /u);
    await expect(search('x', '..')).rejects.toThrow(/^OUTSIDE_WORKSPACE: /u);
    await expect(search('two', '.perdure/x')).rejects.toThrow(/^DENIED: /u);
  });

  test('binary files, long lines and many matches keep the answer small, and it says so', async () => {
    const workspace = await tempWorkspace();
    await writeFile(join(workspace.root, 'binary'), Buffer.from('hit\0hit'));
    await workspace.put('long.txt', `hit ${'y'.repeat(100_000)}\n`);
    await workspace.put('many.txt', 'hit\n'.repeat(2_000));
    const text = await textOf(searchFiles.execute({ pattern: 'hit' }, workspace.context()));
    const lines = text.split('\n');
    expect(lines[0]).toBe('[only the first 500 matches are shown; narrow pattern, path or glob]');
    expect(lines[1]).toBe(`long.txt:1: hit ${'y'.repeat(296)}…`);
    expect(lines).toHaveLength(501);
    expect(text).not.toContain('binary');
  });
});
