import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import type { ScriptStepInput } from '../../../src/testing/index.js';
import { type PerdureFolder, usePerdureFolders, WAIT_MS_MAX } from '../../e2e/support/perdure-folder.js';
import { useModels } from '../../e2e/support/use-models.js';
import { builtCli } from '../../support/built-package.js';
import { latch, until } from '../../support/use-workers.js';
import { liveProcesses } from '../../tools/support/live-processes.js';
import { removeStateDir } from '../../worker/support/state-dir.js';

const EXAMPLE = fileURLToPath(new URL('../../../examples/executors', import.meta.url));
const TASK = 'When is high tide in Husum and in Emden? Ring the bell of Husum then.';

/** What the model of the test says, until its last answer. */
const STEPS: readonly ScriptStepInput[] = [
  { toolCalls: ['Husum', 'Emden'].map((harbour) => ({ name: 'high_tide', args: { harbour } })) },
  { toolCalls: [{ name: 'ring_bell', args: { harbour: 'Husum', at: '14:05' } }] },
  { text: 'Husum 14:05, Emden 12:40; the bell rings.' },
];

const folder = usePerdureFolders();
const model = useModels();

describe.each(frameworks())('an agent of $agent', ({ agent, python }) => {
  test('the example runs as its README says, against the local server that plays the model', async () => {
    builtCli();
    const stateDir = join(await mkdtemp(join(tmpdir(), 'perdure-executors-')), 'state');
    onTestFinished(async () => {
      await removeStateDir(stateDir);
      await rm(join(stateDir, '..'), { recursive: true, force: true });
    });
    const env = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PERDURE_DIR: stateDir,
      PERDURE_TEMPORAL_BIN: inject('temporalBinary'),
    };
    const { stdout } = await promisify(execFile)(process.execPath, [join(EXAMPLE, 'start.mjs'), agent, python, '--json'], { env });
    const result = JSON.parse(stdout) as RunResult;
    expect(result).toMatchObject({ reason: 'completed', turns: 3, toolCalls: 3, models: [`subprocess/${agent}`] });
    expect(result.output).toContain('The bell of Husum rings at 14:05.');
    expect(result.usage.inputTokens).toBeGreaterThan(0);
    expect(result.usageEstimated).toBeUndefined();
  });

  test('its tools are the run’s: what they answer reaches its model, in one batch where it asks for two', async () => {
    const wire = await model({ script: { steps: [...STEPS] } });
    const here = await exampleFolder(python, { OPENAI_API_KEY: wire.apiKey, OPENAI_BASE_URL: wire.openaiBaseUrl, OPENAI_MODEL: 'test' });
    const { stdout } = await here.start(['run', TASK, '--agent', agent, '--id', 'r1', '--json']).exits(0);
    expect(JSON.parse(stdout)).toMatchObject({
      reason: 'completed',
      turns: 3,
      toolCalls: 3,
      output: 'Husum 14:05, Emden 12:40; the bell rings.',
    });
    const last = JSON.stringify(wire.requests.at(-1)?.body);
    for (const said of ['14:05', '12:40', 'the bell of Husum rings at 14:05', 'You keep the harbours of a coast.'])
      expect(last).toContain(said);
    expect(wire.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'answered']);
  });

  test('a model that refuses fails the run with the words of the framework, and no key in them', async () => {
    const wire = await model({ script: { steps: [{ text: 'never' }] } });
    const canary = 'Kanarievogel-of-the-test';
    const here = await exampleFolder(python, { OPENAI_API_KEY: canary, OPENAI_BASE_URL: wire.openaiBaseUrl, OPENAI_MODEL: 'test' });
    const { stdout } = await here.start(['run', TASK, '--agent', agent, '--id', 'r1', '--json']).exits(1);
    expect(JSON.parse(stdout)).toMatchObject({
      reason: 'error',
      error: { type: 'Executor.Failed', message: expect.stringMatching(/it reported an error: .*401/u) },
    });
    expect(stdout).not.toContain(canary);
  });

  test('a cancel ends the process while its model is silent', async () => {
    const [asked, answered] = [latch(), latch()];
    const wire = await model({
      handler: async () => {
        asked.open();
        await answered.opened;
        return { text: 'too late' };
      },
    });
    const here = await exampleFolder(python, { OPENAI_API_KEY: wire.apiKey, OPENAI_BASE_URL: wire.openaiBaseUrl, OPENAI_MODEL: 'test' });
    const run = here.start(['run', TASK, '--agent', agent, '--id', 'r1', '--json']);
    await asked.opened;
    await here.start(['cancel', 'r1']).exits(0);
    await run.exits(130);
    expect(await liveProcesses(join(here.dir, `${agent}_agent.py`))).toEqual([]);
    answered.open();
  });
});

describe('an agent of langchain whose worker is killed', () => {
  test('is started again with the transcript, and its model is asked to go on from there', async () => {
    const { python } = frameworkNamed('langchain');
    const [asked, answered] = [latch(), latch()];
    const wire = await model({
      handler: async ({ answered: turn }) => {
        if (turn === 1) {
          asked.open();
          await answered.opened;
        }
        return STEPS[turn] ?? { text: 'too many' };
      },
    });
    const here = await exampleFolder(python, { OPENAI_API_KEY: wire.apiKey, OPENAI_BASE_URL: wire.openaiBaseUrl, OPENAI_MODEL: 'test' });
    const marker = join(here.dir, 'langchain_agent.py');
    const first = here.start(['run', TASK, '--agent', 'langchain', '--id', 'r1']);
    await asked.opened;
    await first.kill('SIGKILL');
    await until(async () => (await liveProcesses(marker)).length === 0, 'the end of the child', WAIT_MS_MAX);
    answered.open();
    const { stdout } = await here.start(['watch', 'r1', '--json']).exits(0);
    expect(JSON.parse(stdout)).toMatchObject({ reason: 'completed', turns: 3, output: 'Husum 14:05, Emden 12:40; the bell rings.' });
    const requests = wire.requests.map(({ body }) => JSON.stringify(body));
    expect(requests.filter((body) => body.includes('12:40')).length).toBeGreaterThanOrEqual(2);
  });
});

interface Framework {
  readonly agent: 'langchain' | 'crewai';
  readonly python: string;
}

/** LangChain always; CrewAI, whose packages take 1 GB, where a Python with it is named. */
function frameworks(): Framework[] {
  const crewai = process.env['PERDURE_TEST_CREWAI_PYTHON'];
  if (!crewai) console.warn(`\nCREWAI IS NOT TESTED HERE: ${howTo('PERDURE_TEST_CREWAI_PYTHON', 'crewai')}\n`);
  return [frameworkNamed('langchain'), ...(crewai ? [{ agent: 'crewai', python: crewai } as const] : [])];
}

function frameworkNamed(agent: Framework['agent']): Framework {
  const python = process.env['PERDURE_TEST_EXECUTORS_PYTHON'];
  if (!python) throw new Error(howTo('PERDURE_TEST_EXECUTORS_PYTHON', 'langchain'));
  return { agent, python };
}

function howTo(variable: string, name: string): string {
  return `${variable}: name a Python that has the packages (python3 -m venv DIR && DIR/bin/pip install -r examples/executors/requirements-${name}.txt)`;
}

/** A folder of its own with the example's config and programs. */
async function exampleFolder(python: string, env: NodeJS.ProcessEnv): Promise<PerdureFolder> {
  const here = await folder({ EXECUTORS_PYTHON: python, ...env });
  await cp(EXAMPLE, here.dir, { recursive: true, filter: (path) => !/\/(?:\.venv|\.perdure|__pycache__)(?:\/|$)/u.test(path) });
  return here;
}
