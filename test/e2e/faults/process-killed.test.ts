import { describe, expect, it } from 'vitest';
import type { RecordedRequest } from '../../../src/testing/index.js';
import { readDevServerRecord } from '../../../src/worker/dev-server/record.js';
import { until } from '../../support/use-workers.js';
import { type PerdureFolder, usePerdureFolders } from '../support/perdure-folder.js';
import { messagesOf } from '../support/request-messages.js';
import { modelEnv, useModels } from '../support/use-models.js';

/** From the start of the next command to the next request. The heartbeat timeout alone would take five minutes. */
const RECOVERY_MS_MAX = 60_000;

const UNKNOWN = '[outcome unknown] The tool was started but its worker stopped before reporting.';

describe('a run whose process is killed with SIGKILL', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('in the middle of a model call: the next command asks the model again, with the same messages', async ({ annotate }) => {
    const wire = await model({ script: { steps: [{ text: 'half an answer, then silence', fault: { stall: true, afterEvent: 'text' } }] } });
    const here = await folder(modelEnv(wire));
    const killed = here.start(['run', 'say it', '--model', 'openai/test', '--id', 'r1']);
    await until(() => wire.requests.length === 1, 'the first request');
    await killed.kill('SIGKILL');

    const startedAt = Date.now();
    const result = await here.json(['watch', 'r1']);
    // the wire server remembers that the fault was played
    expect(result).toMatchObject({ reason: 'completed', turns: 1, output: 'half an answer, then silence' });
    expect(wire.requests).toHaveLength(2);
    expect(messagesOf(wire.requests[1])).toEqual(messagesOf(wire.requests[0]));
    await reportRecovery(annotate, startedAt, wire.requests[1]);
  });

  it('in the middle of a `once` tool: it is not started again, and the model is told that its outcome is unknown', async ({ annotate }) => {
    const wire = await model({ script: callsOf('send_once') });
    const here = await folder(modelEnv(wire));
    await killInTool(here, 'send_once');

    const startedAt = Date.now();
    const dev = here.start(['dev']);
    expect(await here.json(['watch', 'r1', '--no-worker'])).toMatchObject({ reason: 'completed', turns: 2, output: 'told' });
    expect(await here.effects()).toEqual([expect.objectContaining({ what: 'start', tool: 'send_once' })]);
    expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain(UNKNOWN);
    await reportRecovery(annotate, startedAt, wire.requests[1]);
    expect((await dev.kill('SIGTERM')).code).toBe(0);
  });

  it('in the middle of an `idempotent` tool: it is started again with the same key, and the model reads its result', async ({
    annotate,
  }) => {
    const wire = await model({ script: callsOf('put_idempotent') });
    const here = await folder(modelEnv(wire));
    await killInTool(here, 'put_idempotent');

    const startedAt = Date.now();
    expect(await here.json(['watch', 'r1'])).toMatchObject({ reason: 'completed', turns: 2, toolCalls: 1 });
    const starts = await here.startsOf('put_idempotent');
    expect(starts).toHaveLength(2);
    expect(new Set(starts.map(({ key }) => key)).size).toBe(1);
    expect(new Set(starts.map(({ pid }) => pid)).size).toBe(2);
    expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('put_idempotent a done');
    await reportRecovery(annotate, startedAt, wire.requests[1]);
  });

  it('in the middle of a `once` tool that can look: what it finds decides, and it is started again at most once', async () => {
    const wire = await model({ script: callsOf('send_checked') });
    const here = await folder(modelEnv(wire));
    await killInTool(here, 'send_checked');

    expect(await here.json(['watch', 'r1'])).toMatchObject({ reason: 'completed', turns: 2 });
    const starts = await here.startsOf('send_checked');
    expect(starts).toHaveLength(2);
    expect(new Set(starts.map(({ key }) => key)).size).toBe(1);
    expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('send_checked a done');
  });

  it('between two turns: it goes on where it stood, and nothing is done twice', async ({ annotate }) => {
    const wire = await model({ script: callsOf('send_once') });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const killed = here.start(['run', 'do it', '--model', 'openai/test', '--id', 'r1']);
    await here.started('send_once');
    await here.type(['pause', 'r1']);
    await here.release();
    await killed.prints('paused');
    await killed.kill('SIGKILL');

    const startedAt = Date.now();
    await here.type(['resume', 'r1']);
    expect(await here.json(['watch', 'r1'])).toMatchObject({ reason: 'completed', turns: 2, toolCalls: 1 });
    await reportRecovery(annotate, startedAt, wire.requests[1]);
    expect((await here.effects()).map(({ what }) => what)).toEqual(['start', 'end']);
    expect(wire.requests).toHaveLength(2);
    expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('send_once a done');
  });

  it('together with the server and its keeper, as in a power cut: the next command starts the server anew and finishes the run', async ({
    annotate,
  }) => {
    const wire = await model({ script: callsOf('put_idempotent') });
    const here = await folder(modelEnv(wire));
    await killInTool(here, 'put_idempotent');
    const { serverPid, keeperPid } = await here.server();
    process.kill(keeperPid, 'SIGKILL');
    process.kill(serverPid, 'SIGKILL');

    const startedAt = Date.now();
    expect(await here.json(['watch', 'r1'])).toMatchObject({ reason: 'completed', turns: 2, toolCalls: 1 });
    expect((await here.server()).serverPid).not.toBe(serverPid);
    expect(new Set((await here.startsOf('put_idempotent')).map(({ key }) => key)).size).toBe(1);
    expect(wire.requests).toHaveLength(2);
    await reportRecovery(annotate, startedAt, wire.requests[1]);
  });

  it('is not needed for this: the server alone dies in the middle of a `once` tool, whose result is taken when it is back', async () => {
    const wire = await model({ script: callsOf('send_once') });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const run = here.start(['run', 'do it', '--model', 'openai/test', '--id', 'r1', '--json']);
    await here.started('send_once');
    const { serverPid } = await here.server();
    process.kill(serverPid, 'SIGKILL');
    await until(async () => (await readDevServerRecord(here.stateDir))?.serverPid !== serverPid, 'a new server', 60_000);
    await here.release();

    // nothing else may be on stdout, whatever the SDK has to say of the outage
    const { stdout } = await run.exits(0);
    expect(JSON.parse(stdout)).toMatchObject({ reason: 'completed', turns: 2 });
    expect((await here.effects()).map(({ what }) => what)).toEqual(['start', 'end']);
    expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('send_once a done');
  });
});

/** A script whose first answer calls one tool, and whose second ends. */
function callsOf(tool: string) {
  return { steps: [{ toolCalls: [{ name: tool, args: { name: 'a' } }] }, { text: 'told' }] };
}

/** Starts run `r1` and kills its process while the tool is at work; what starts later is not held. */
async function killInTool(here: PerdureFolder, tool: string): Promise<void> {
  await here.hold();
  const command = here.start(['run', 'do it', '--model', 'openai/test', '--id', 'r1']);
  await here.started(tool);
  await command.kill('SIGKILL');
  await here.release();
}

async function reportRecovery(annotate: (text: string) => Promise<unknown>, startedAt: number, request: RecordedRequest | undefined) {
  const ms = (request?.at ?? Number.POSITIVE_INFINITY) - startedAt;
  await annotate(`next request ${ms} ms after the start of the next command`);
  expect(ms).toBeLessThan(RECOVERY_MS_MAX);
}
