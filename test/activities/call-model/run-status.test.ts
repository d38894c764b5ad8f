import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { isRunOver } from '../../../src/activities/call-model/run-status.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { ModelRequest } from '../../../src/providers/contract/provider.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';

const note = defineTool({ name: 'note', description: 'Notes.', parameters: z.strictObject({}), execute: () => 'noted' });

describe('a look at the run that a request belonged to', () => {
  const { worker, start } = useWorkers();

  it('says that it is open in a fresh history too, and over once it is closed', async () => {
    const gate = latch();
    let look: ModelRequest['isRunOver'];
    const on = await worker({
      model: ({ isRunOver: given }, n) => {
        look ??= given;
        return n < 6 ? call(['note', {}]) : gate.opened.then(() => say('done'));
      },
      tools: [note],
    });
    const run = await start(on, { bounds: { continueAsNewEvents: 20 } });
    await until(() => on.requests.length === 6, 'the request that waits');
    const { raw } = await run.handle.describe();
    expect(raw.workflowExecutionInfo?.firstRunId).not.toBe(raw.workflowExecutionInfo?.execution?.runId);
    expect(await look?.()).toBe(false);
    gate.open();
    await run.result();
    expect(await look?.()).toBe(true);
  });

  it('takes a run that the server does not know any more for one that is over', async () => {
    const on = await worker({ model: () => say('never asked') });
    expect(await isRunOver(on.client, `run-${randomUUID()}`)).toBe(true);
  });

  it('takes it for open when the server cannot be asked', async () => {
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    await connection.close();
    expect(await isRunOver(new Client({ connection }), `run-${randomUUID()}`)).toBe(false);
  });
});
