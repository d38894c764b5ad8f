import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { usePerdureFolders } from '../support/perdure-folder.js';
import { messagesOf } from '../support/request-messages.js';
import { modelEnv, useModels } from '../support/use-models.js';

const folder = usePerdureFolders();
const model = useModels();

const CONFIG = `
import { defineConfig, defineTool } from 'perdure';
import { z } from 'zod';

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const tool = (name, execute) => defineTool({ name, description: name, parameters: z.strictObject({}), effect: 'once', execute });

export default defineConfig({
  tools: [
    tool('forgets_to_await', async () => { void Promise.reject(new Error('nobody awaits this')); await wait(50); return 'sent'; }),
    tool('throws_in_a_timer', async () => { setTimeout(() => { throw new Error('nobody catches this'); }, 10); await wait(200); return 'sent'; }),
    tool('fails_after_its_end', () => { setTimeout(() => { throw Object.assign(new Error('after the end, sk-0123456789abcdef'), { request: 'a header' }); }, 50); return 'sent'; }),
    tool('slow', async () => { await wait(500); return 'slow is done'; }),
  ],
});
`;

test('an error of a tool that nothing catches is the failure of its call, and ends neither the worker nor other calls', async () => {
  const calls = ['forgets_to_await', 'throws_in_a_timer', 'fails_after_its_end', 'slow'].map((name) => ({ name, args: {} }));
  const wire = await model({ script: { steps: [{ toolCalls: calls }, { text: 'done' }] } });
  const here = await folder(modelEnv(wire));
  await writeFile(join(here.dir, 'perdure.config.mjs'), CONFIG);
  const { stdout, stderr } = await here.start(['run', 'go', '--model', 'openai/test', '--id', 'r1']).exits(0);
  const seen = JSON.stringify(messagesOf(wire.requests[1]));
  const returned = 'the tool returned, but a part of it that it did not await failed; it may have taken partial effect';
  expect(seen).toContain(`${returned}: nobody awaits this`);
  expect(seen).toContain(`${returned}: nobody catches this`);
  expect(seen).toContain('slow is done');
  expect(seen).not.toContain('outcome unknown');
  // in the log with the name of the tool, without a key and without the fields of the error
  const log = await readFile(join(here.stateDir, 'logs', 'worker.log'), 'utf8');
  const lines = log.split('\n').filter((line) => line.includes('where nothing catches it'));
  expect(lines.map((line) => (JSON.parse(line) as { tool: string }).tool)).toHaveLength(3);
  expect(lines.at(-1)).toMatch(/the tool fails_after_its_end threw where nothing catches it: Error: after the end, \[redacted\]/u);
  expect([log, stdout, stderr].filter((text) => /sk-0123456789abcdef|a header/u.test(text))).toEqual([]);
});
