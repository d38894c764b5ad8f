import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FileArtifactStore } from '../../../src/artifacts/file-artifact-store.js';
import type { ToolResultPart } from '../../../src/contracts/schemas/message.js';
import { type AnyToolDefinition, defineTool, type ToolReturn } from '../../../src/define/define-tool.js';
import type { ModelRequest } from '../../../src/providers/contract/provider.js';
import { createReadArtifact } from '../../../src/tools/read-artifact.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { useTempFolder } from '../../support/temp-folder.js';
import { useWorkers } from '../../support/use-workers.js';

const LINES = Array.from({ length: 200_000 }, (_, at) => `line ${at + 1}\n`).join('');
const REF = /"ref":"(sha256:([0-9a-f]{2})[0-9a-f]{62})"/u;

describe('the output of tools', () => {
  const { worker, start } = useWorkers();
  const folder = useTempFolder('perdure-tool-output-');

  it('B-27: a result of 2 MB reaches history as its end with a reference, by which the model reads the rest', async () => {
    const results = await resultsOf(
      toolOf(() => LINES),
      (first) => ({ ref: refIn(first), offset: 500_000, bytes: 1_000 }),
    );
    expect(results[0]?.text).toMatch(/^\[…\]\nline \d+\n[^]*\nline 200000\n\[output cut: 2\.\d MiB in 200000 lines; shown: /u);
    expect(results[1]?.text).toMatch(/^[^]*line \d+\n\[bytes 500000-\d+ of \d+; next page: read_artifact/u);
    expect(results[1]?.isError).toBe(false);
  });

  it('L3: an error with a message of 3 MB is cut by the same bounds, and kept', async () => {
    const tool = toolOf(() => {
      throw new Error(`it broke\n${'x'.repeat(3_000_000)}`);
    });
    const results = await resultsOf(tool, (first) => ({ ref: refIn(first), bytes: 300 }));
    expect(Buffer.byteLength(results[0]?.text ?? '')).toBeLessThanOrEqual(50 * 1_024);
    expect(results[0]?.isError).toBe(true);
    expect(results[1]?.text).toMatch(/^it broke\n/u);
  });

  it('A-22: the policy of a run bounds each result exactly', async () => {
    const policy = { output: { exact: { above: 1_200, head: 700, tail: 260 } } };
    const text = 'y'.repeat(90_000);
    const results = await resultsOf(
      toolOf(() => text),
      undefined,
      { policy },
    );
    const [head, marker, tail] = results[0]?.text.split('\n') ?? [];
    expect([head, tail]).toEqual([text.slice(0, 700), text.slice(-260)]);
    expect(marker).toContain('89040 characters dropped');
  });

  it('D-08: a result is at most a quarter of the window, at least 2,000 characters, and says how long it was', async () => {
    const [small, tiny] = [await shownTo(10_000), await shownTo(100)];
    expect(small.length).toBeLessThanOrEqual(10_000);
    expect(small.length).toBeGreaterThan(9_000);
    expect(tiny.length).toBeLessThanOrEqual(2_000);
    expect(tiny.length).toBeGreaterThan(1_500);
    for (const text of [small, tiny]) expect(text).toContain('2.2 MiB in 200000 lines');
  });

  it('L9, B30: when an artifact is damaged or gone the model is told so, and the run goes on', async () => {
    const damaged = await resultsOf(
      toolOf(() => LINES),
      async (first) => {
        await writeFile(join(folder.path, REF.exec(first)?.[2] ?? '', refIn(first).slice('sha256:'.length)), 'other');
        return { ref: refIn(first) };
      },
    );
    expect(damaged[1]).toMatchObject({ isError: true, text: expect.stringMatching(/^content lost: sha256:[0-9a-f]{64} \(BLOB_CORRUPT/u) });
    const gone = await resultsOf(
      toolOf(() => LINES),
      async (first) => {
        await rm(folder.path, { recursive: true });
        return { ref: refIn(first) };
      },
    );
    expect(gone[1]).toMatchObject({ isError: true, text: expect.stringMatching(/^content lost: sha256:[0-9a-f]{64} \(BLOB_MISSING/u) });
  });

  it('B-27: a store that cannot be written fails no call', async () => {
    await writeFile(join(folder.path, 'a-file'), '');
    const artifacts = new FileArtifactStore(join(folder.path, 'a-file'));
    const [result] = await resultsOf(
      toolOf(() => LINES),
      undefined,
      { artifacts },
    );
    expect(result).toMatchObject({ isError: false, text: expect.stringContaining('the full output could not be stored: ENOTDIR]') });
  });

  /** The result that a model with this window reads. */
  async function shownTo(contextWindow: number): Promise<string> {
    const [result] = await resultsOf(
      toolOf(() => LINES),
      undefined,
      { policy: {}, contextWindow },
    );
    return result?.text ?? '';
  }

  /** Runs the tool, then `read_artifact` with what is made of its result, and gives both results as the model read them. */
  async function resultsOf(
    tool: AnyToolDefinition,
    next?: (first: string) => object | Promise<object>,
    options: Partial<AgentWorkerOptions> = {},
  ): Promise<ReadResult[]> {
    const artifacts = new FileArtifactStore(folder.path);
    const on = await worker({
      artifacts,
      tools: [tool, createReadArtifact(artifacts)],
      model: async (request, turn) => {
        if (turn === 1) return call(['act', {}]);
        return turn === 2 && next ? call(['read_artifact', await next(readResults(request)[0]?.text ?? '')]) : say('done');
      },
      ...options,
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', output: 'done' });
    return readResults(on.requests.at(-1));
  }
});

interface ReadResult {
  readonly text: string;
  readonly isError: boolean;
}

function readResults(request: ModelRequest | undefined): ReadResult[] {
  const parts = (request?.messages ?? []).flatMap((message) => message.parts);
  return parts.filter((part) => part.type === 'tool_result').map(asReadResult);
}

function asReadResult({ isError, parts }: ToolResultPart): ReadResult {
  return { isError, text: parts.map((part) => (part.type === 'text' ? part.text : '')).join('') };
}

function refIn(text: string): string {
  return REF.exec(text)?.[1] ?? 'no reference';
}

function toolOf(execute: () => ToolReturn): AnyToolDefinition {
  return defineTool({ name: 'act', description: 'Acts.', parameters: z.strictObject({}), execute });
}
