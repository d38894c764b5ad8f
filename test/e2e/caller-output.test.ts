import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { usePerdureFolders } from './support/perdure-folder.js';
import { modelEnv, useModels } from './support/use-models.js';

const folder = usePerdureFolders();
const model = useModels();

const LINES = 1_000;

/** Everything of a config that runs in the process of a command logs to standard output. */
const NOISY_CONFIG = `
import { defineAgent, defineConfig, defineHook, defineTool } from 'perdure';
import { z } from 'zod';

console.log('the config is loaded');
process.stdout.write('without a line end');

export default defineConfig({
  tools: [
    defineTool({
      name: 'chatty',
      description: 'Logs much.',
      parameters: z.strictObject({}),
      effect: 'once',
      async execute() {
        for (let line = 0; line < ${LINES / 2}; line += 1) {
          console.log('log line', line);
          process.stdout.write(\`written line \${line}\\n\`);
          if (line % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        }
        console.error('to stderr');
        process.stdout.write('no line end');
        return 'logged';
      },
    }),
  ],
  hooks: [
    defineHook({ name: 'noisy', on: 'before-tool', run() { console.log('a hook runs'); return { action: 'allow' }; } }),
  ],
  agents: {
    gated: defineAgent({
      description: 'Has a gate.',
      prompt: 'Do as you are told.',
      gate: () => { console.log('a gate runs'); return { action: 'allow' }; },
      completionGate: () => { console.log('a completion gate runs'); return { accept: true }; },
    }),
  },
});
`;

test.each(['--json', '--events'])(
  'A12: with %s stdout holds only the output of the command, whatever tools, hooks, gates and the config log',
  async (flag) => {
    const wire = await model({ script: { steps: [{ toolCalls: [{ name: 'chatty', args: {} }] }, { text: 'done' }] } });
    const here = await folder(modelEnv(wire));
    await writeFile(join(here.dir, 'perdure.config.mjs'), NOISY_CONFIG);
    const { stdout, stderr } = await here.start(['run', 'go', '--model', 'openai/test', '--agent', 'gated', '--id', 'r1', flag]).exits(0);

    const documents = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const last = documents.at(-1);
    expect(last.result ?? last).toMatchObject({ reason: 'completed', output: 'done' });
    expect(flag === '--json' ? documents.length : 1).toBe(1);

    const fromCall = stderr.split('\n').filter((line) => /^chatty of r1 \(call \S+\): /u.test(line));
    const texts = fromCall.map((line) => line.slice(line.indexOf('): ') + 3));
    expect(texts).toEqual([...loggedLines(), 'to stderr', 'no line end']);
    for (const text of ['the config is loaded', 'without a line end', 'a hook runs', 'a gate runs', 'a completion gate runs']) {
      expect(stderr).toContain(text);
    }
    const log = (await readFile(join(here.stateDir, 'logs', 'worker.log'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const logged = log.filter(
      ({ activity, tool, runId, callId, stream }) =>
        activity === 'callTool' && tool === 'chatty' && runId === 'r1' && callId && stream === 'stdout',
    );
    expect(logged.map(({ message }) => message)).toEqual([...loggedLines(), 'no line end']);
  },
);

test('A12: commands that load the config and host no worker keep stdout clean too', async () => {
  const here = await folder();
  await writeFile(join(here.dir, 'perdure.config.mjs'), NOISY_CONFIG);
  const { stdout, stderr } = await here.start(['doctor', '--json']).ended;
  expect(() => JSON.parse(stdout)).not.toThrow();
  expect(stderr).toContain('the config is loaded');
});

function loggedLines(): string[] {
  return Array.from({ length: LINES / 2 }, (_, line) => [`log line ${line}`, `written line ${line}`]).flat();
}
