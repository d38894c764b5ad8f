import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, test } from 'vitest';
import { usePerdureFolders } from './support/perdure-folder.js';
import { messagesOf } from './support/request-messages.js';
import { modelEnv, useModels } from './support/use-models.js';

const folder = usePerdureFolders();
const model = useModels();

const CONFIG = `
import { defineConfig, defineTool } from 'perdure';
import { z } from 'zod';

function chargeCard() { throw new Error('the card is declined', { cause: new RangeError('limit of sk-0123456789abcdef') }); }

export default defineConfig({
  tools: [
    defineTool({ name: 'charge', description: 'Charges.', parameters: z.strictObject({}), effect: 'once', execute: () => chargeCard() }),
  ],
});
`;

test("D5: the stack of what a tool threw is in the worker's log, with its cause; the model and the history have the message alone", async () => {
  const calls = [
    { name: 'charge', args: {} },
    { name: 'read_file', args: { path: 'missing.txt' } },
  ];
  const wire = await model({ script: { steps: [{ toolCalls: calls }, { text: 'done' }] } });
  const here = await folder({ ...modelEnv(wire), TEMPORAL_ADDRESS: inject('temporalAddress') });
  await writeFile(join(here.dir, 'perdure.config.mjs'), CONFIG);
  const id = `e2e-thrown-${process.pid}`;
  const run = ['run', 'go', '--model', 'openai/test', '--id', id, '--task-queue', id, '--workspace', here.workspace];
  await here.start(run).exits(0);

  const log = await readFile(join(here.stateDir, 'logs', 'worker.log'), 'utf8');
  const [line = '', ...others] = log.split('\n').filter((one) => one.includes(' threw '));
  const { message, tool, workflowId } = JSON.parse(line) as Record<string, string>;
  expect({ tool, workflowId }).toEqual({ tool: 'charge', workflowId: id });
  expect(message).toMatch(/^the tool charge threw Error: the card is declined\n\s+at chargeCard .*perdure\.config\.mjs:5/u);
  expect(message).toMatch(/\ncaused by RangeError: limit of \[redacted\]\n\s+at chargeCard /u);
  // a built-in tool throws to tell the model something
  expect(others).toEqual([]);

  const seen = JSON.stringify(messagesOf(wire.requests[1]));
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    const history = decoded(JSON.stringify(await new Client({ connection }).workflow.getHandle(id).fetchHistory()));
    // the history is too long to print
    expect([history.includes('the card is declined'), seen.includes('the card is declined')]).toEqual([true, true]);
    expect([seen, history].map((text) => /at chargeCard|limit of/u.test(text))).toEqual([false, false]);
  } finally {
    await connection.close();
  }
});

/** Payloads are base64. */
function decoded(history: string): string {
  return history.replaceAll(/"data":"([\w+/=]+)"/gu, (_, data: string) => Buffer.from(data, 'base64').toString());
}
