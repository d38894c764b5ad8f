import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/define/define-tool.js';
import type { ModelAnswer } from '../../src/providers/contract/provider.js';
import { createDataConverter } from '../../src/worker/data-converter.js';
import { call, say } from '../support/agent-worker.js';
import { useTempFolder } from '../support/temp-folder.js';
import { useWorkers } from '../support/use-workers.js';

/** Of one result, and of how many results each turn has: half a megabyte a turn. */
const CHARS = 45_000;
const CALLS = 12;

/** A tool whose results compress well, or not at all. */
function big(text: (n: number) => string) {
  return defineTool({
    name: 'big',
    description: 'Answers at length.',
    parameters: z.strictObject({ n: z.number() }),
    effect: 'read',
    execute: ({ n }) => text(n),
  });
}

const repetitive = (n: number): string => `${n} ${'x'.repeat(CHARS)}`;

/** Text that does not compress below three quarters, the same in every run. */
const random = (n: number): string =>
  createHash('shake256', { outputLength: (CHARS / 4) * 3 })
    .update(String(n))
    .digest('base64');

function manyCalls(turn: number): ModelAnswer {
  return call(...Array.from({ length: CALLS }, (_, n) => ['big', { n: turn * CALLS + n }] as const));
}

describe('A10: a plain Temporal client, without any of our options', () => {
  const { worker, start } = useWorkers();
  const artifactsDir = useTempFolder('perdure-artifacts-');

  it.each<[what: string, turns: number, text: (n: number) => string, encoding: string]>([
    ['inline, up to 1.5 MiB', 2, random, 'json/plain'],
    ['compressed above', 4, repetitive, 'binary/perdure-gzip'],
    ['stored in a file when it stays large', 5, random, 'binary/perdure-blob'],
  ])('reads the result of a run that carried its state over: %s', async (_what, turns, text, encoding) => {
    const dataConverter = createDataConverter({ artifactsDir: artifactsDir.path });
    const on = await worker({ model: (_, n) => (n <= turns ? manyCalls(n) : say('ok')), tools: [big(text)], dataConverter });
    const run = await start(on, { maxTurns: turns + 5, bounds: { continueAsNewEvents: 20 } });
    const plain = new Client({ connection: on.client.connection }).workflow.getHandle(run.runId, (await run.handle.describe()).runId);
    expect(await plain.result()).toMatchObject({ reason: 'completed', output: 'ok', turns: turns + 1 });

    const history = await run.handle.fetchHistory();
    const payloads = history.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const encodings = payloads.map(({ metadata }) => new TextDecoder().decode(metadata?.['encoding'] ?? new Uint8Array()));
    expect(encodings).toEqual(['json/plain', encoding]);
    const files = await readdir(artifactsDir.path, { recursive: true, withFileTypes: true });
    expect(files.some((entry) => entry.isFile())).toBe(encoding === 'binary/perdure-blob');
    await Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundlePath') }, dataConverter }, history);
  });
});
