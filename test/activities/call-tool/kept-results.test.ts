import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeptResults } from '../../../src/activities/call-tool/kept-results.js';
import type { CallToolResult } from '../../../src/contracts/activities.js';
import { LOSS_LIMITS } from '../../../src/contracts/constants/limits.js';

const NOW = { now: true };
const CALL = { runId: 'run/a b', turn: 2, key: 'run/first/2/0', executionId: 'execution' };

describe('A5: the results of finished tool calls', () => {
  let folder: string;
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'perdure-results-')), 'results');
  });
  afterEach(async () => {
    // a result may just be written
    await rm(join(folder, '..'), { recursive: true, force: true, maxRetries: 5 });
  });

  it('outlast their process, readable by its user only', async () => {
    await new KeptResults({ folder }).finished(CALL, result('charged'), NOW);
    expect(await new KeptResults({ folder }).recall(CALL)).toEqual({ kind: 'done', result: result('charged') });
    const [file = ''] = await readdir(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
  });

  it('are found in memory before they are on disk, and written a second later', async () => {
    const results = new KeptResults({ folder });
    await results.finished(CALL, result('charged'), { now: false });
    expect(await results.recall(CALL)).toMatchObject({ kind: 'done' });
    expect(await readdir(folder).catch(() => [])).toEqual([]);
    // not yet complete, it has another name
    const complete = async () => (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'));
    await expect.poll(complete, { timeout: 10_000 }).toHaveLength(1);
  });

  it.each([
    ['another call', { key: 'run/first/2/1' }],
    ['a reset run, whose calls run again', { executionId: 'another' }],
    ['another run', { runId: 'other' }],
  ])('are not those of %s', async (_, other) => {
    const results = new KeptResults({ folder });
    await results.finished(CALL, result('charged'), NOW);
    expect(await results.recall({ ...CALL, ...other })).toEqual({ kind: 'unknown' });
  });

  it('say while a call runs, and when it ended without a result', async () => {
    const results = new KeptResults({ folder });
    results.started(CALL);
    expect(await results.recall(CALL)).toMatchObject({ kind: 'running' });
    await results.stopped(CALL, { shared: false });
    expect(await results.recall(CALL)).toEqual({ kind: 'stopped' });
    expect(await new KeptResults({ folder }).recall(CALL)).toEqual({ kind: 'unknown' });
  });

  it('tell the other processes of the host that a lost call has ended, until it starts again', async () => {
    const [results, other] = [new KeptResults({ folder }), new KeptResults({ folder })];
    results.started(CALL);
    await results.stopped(CALL, { shared: true });
    expect(await other.recall(CALL)).toEqual({ kind: 'stopped' });
    await results.forget(CALL);
    expect(await other.recall(CALL)).toEqual({ kind: 'unknown' });
    await results.stopped(CALL, { shared: true });
    await other.finished(CALL, result('charged'), NOW);
    expect(await new KeptResults({ folder }).recall(CALL)).toMatchObject({ kind: 'done' });
    // an earlier start, whose tool ignored its signal, ends at last
    await results.stopped(CALL, { shared: true });
    expect(await new KeptResults({ folder }).recall(CALL)).toMatchObject({ kind: 'done' });
  });

  it.each([
    ['a later turn', { ...CALL, turn: 3 }, undefined, 'unknown'],
    ['a later call of the turn', CALL, { ...CALL, key: 'run/first/2/1' }, 'unknown'],
    ['the same call', CALL, CALL, 'done'],
    ['the same turn', CALL, undefined, 'done'],
    ['another run', { runId: 'other', turn: 9 }, undefined, 'done'],
  ])('are dropped when %s starts, unless they may be needed', async (_, at, call, kind) => {
    await new KeptResults({ folder }).finished(CALL, result('charged'), NOW);
    const later = new KeptResults({ folder });
    later.passed(at, call);
    await expect.poll(async () => (await later.recall(CALL)).kind, { timeout: 10_000 }).toBe(kind);
  });

  it('are bounded in number, on disk and in memory: the oldest go first', async () => {
    const results = new KeptResults({ folder });
    const calls = Array.from({ length: LOSS_LIMITS.resultsKeptMax + 5 }, (_, n) => ({ ...CALL, key: `key ${n}` }));
    for (const call of calls) await results.finished(call, result('x'), { now: call === calls.at(-1) });
    expect(await results.recall(calls[0] ?? CALL)).toEqual({ kind: 'unknown' });
    expect(await results.recall(calls.at(-1) ?? CALL)).toMatchObject({ kind: 'done' });
    expect((await readdir(folder)).length).toBeLessThanOrEqual(LOSS_LIMITS.resultsKeptMax);
  });

  it('are bounded in age, and a damaged file is none', async () => {
    await new KeptResults({ folder }).finished(CALL, result('charged'), NOW);
    const [file = ''] = await readdir(folder);
    const whole = await readFile(join(folder, file), 'utf8');
    await writeFile(join(folder, file), whole.slice(0, 20));
    expect(await new KeptResults({ folder }).recall(CALL)).toEqual({ kind: 'unknown' });
    await writeFile(join(folder, file), whole);
    const old = (Date.now() - LOSS_LIMITS.resultsKeptMs - 1_000) / 1_000;
    await utimes(join(folder, file), old, old);
    expect(await new KeptResults({ folder }).recall(CALL)).toEqual({ kind: 'unknown' });
    const next = new KeptResults({ folder });
    await next.finished({ ...CALL, key: 'next' }, result('x'), NOW);
    expect(await readdir(folder)).not.toContain(file);
  });

  it('stay in memory, with a notice, when the disk takes none', async () => {
    await writeFile(folder, 'a file in the way');
    const problems: unknown[] = [];
    const results = new KeptResults({ folder, onError: (error) => problems.push(error) });
    await results.finished(CALL, result('charged'), NOW);
    expect(problems).toHaveLength(1);
    expect(await results.recall(CALL)).toMatchObject({ kind: 'done' });
  });
});

function result(text: string): CallToolResult {
  const parts = [{ type: 'tool_result' as const, callId: 'c', isError: false, parts: [{ type: 'text' as const, text }] }];
  return { message: { id: 'c', role: 'tool', turn: 2, parts }, hash: 'h', outcome: 'ok', durationMs: 1 };
}
