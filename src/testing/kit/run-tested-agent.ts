import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RunHandle } from '../../client/run-handle.js';
import type { RunEvent } from '../../contracts/event.js';
import type { TypedRunResult } from '../../contracts/json/output-schema.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Message } from '../../contracts/schemas/message.js';
import { checkScript, readScript } from '../../providers/scripted/script-file.js';
import { checkRun } from '../../worker/config/preflight.js';
import { testServerAddress } from './test-server.js';
import { withTestWorker } from './test-worker.js';
import { CallRecorder } from './tested-calls.js';
import { testedConfig } from './tested-config.js';
import type { TestAgentOptions, TestedRun } from './tested-run.js';

const TIMEOUT_MS = 60_000;

/** Does the work of `testAgent`. */
export async function runTestedAgent<Structured>(options: TestAgentOptions<Structured>): Promise<TestedRun<Structured>> {
  const { config: _config, agent: _agent, tools: _tools, env: _env, script, during, timeoutMs = TIMEOUT_MS, ...rest } = options;
  const { address: named, say = console.log, ...input } = rest;
  const checked = typeof script === 'string' ? await readScript(resolve(script)) : checkScript(script, 'script');
  const folder = await mkdtemp(join(tmpdir(), 'perdure-test-agent-'));
  try {
    const file = join(folder, 'script.json');
    await writeFile(file, JSON.stringify(checked));
    const model = `scripted/${file}`;
    const { config, agent } = await testedConfig(options, model);
    const given = { ...input, model, fallbacks: [], ...(agent === undefined ? {} : { agent }) };
    await checkRun(config, given);
    const { calls, wrap } = new CallRecorder();
    const address = named ?? (await testServerAddress(say));
    return await withTestWorker({ config, stateDir: join(folder, 'state'), address, say, wrapTool: wrap }, async (client) => {
      const { run } = await client.start<Structured>({ ...given, id: `test-${randomUUID()}` });
      const result = await resultOf(run, { during, timeoutMs });
      return { result, transcript: await transcriptOf(run), events: await eventsOf(run), effects: calls };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Waits for the end of a run, and cancels one that takes too long. */
async function resultOf<Structured>(
  run: RunHandle<Structured>,
  { during, timeoutMs }: { readonly during: TestAgentOptions<Structured>['during']; readonly timeoutMs: number },
): Promise<TypedRunResult<Structured>> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const [result] = await Promise.all([run.result({ signal: timeout }), during?.(run)]);
    return result;
  } catch (error) {
    const { status, phase, waitingFor = phase } = await run.progress();
    await run.cancel({ reason: 'the test has ended' });
    if (!timeout.aborted) throw error;
    throw new PerdureError('TEST_TIMEOUT', `the run did not end within ${timeoutMs} ms; it is ${status}: ${waitingFor}`, 1, {
      cause: error,
    });
  }
}

async function transcriptOf<Structured>(run: RunHandle<Structured>): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const page of run.transcript()) messages.push(...page.messages);
  return messages;
}

async function eventsOf<Structured>(run: RunHandle<Structured>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for (let after = 0; ; ) {
    const page = await run.events({ after });
    if (page.events.length === 0) return events;
    events.push(...page.events);
    after = page.next;
  }
}
