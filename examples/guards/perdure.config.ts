import { defineAgent, defineConfig, defineHook, defineTool } from 'perdure';
import { z } from 'zod';

/** A look-up whose answer never changes: `pure`, so it is asked once and remembered. */
const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks a word up.',
  parameters: z.strictObject({ word: z.string() }),
  effect: 'read',
  pure: true,
  execute: ({ word }) => `${word}: a word of ${word.length} letters`,
});

/** A sensor that is stuck: asking it again and again brings nothing. */
const readSensor = defineTool({
  name: 'read_sensor',
  description: 'Reads a sensor.',
  parameters: z.strictObject({ name: z.string(), note: z.string().optional() }),
  effect: 'read',
  execute: ({ name }) => `${name}: 21.5 °C`,
});

/** Far more than a model should read at once. */
const readLog = defineTool({
  name: 'read_log',
  description: 'Reads the whole log.',
  parameters: z.strictObject({}),
  effect: 'read',
  execute: () => Array.from({ length: 6_000 }, (_, line) => `line ${line + 1}: all quiet, token=secret-${line}`).join('\n'),
});

/** What a person has to allow. */
const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys to production.',
  parameters: z.strictObject({ version: z.string() }),
  approval: 'always',
  execute: ({ version }) => `version ${version} is live`,
});

/** What nobody may do to the system's own folders. */
const deleteFolder = defineTool({
  name: 'delete_folder',
  description: 'Deletes a folder of the machine.',
  parameters: z.strictObject({ path: z.string() }),
  execute: ({ path }) => `${path} is gone`,
});

export default defineConfig({
  model: 'scripted/guards.yaml',
  tools: [lookUp, readSensor, readLog, deploy, deleteFolder],
  hooks: [
    defineHook({
      name: 'hide-secrets',
      on: 'after-tool',
      tools: ['read_log'],
      run: ({ output }) => ({ action: 'modify', output: String(output).replaceAll(/secret-\d+/gu, '[hidden]') }),
    }),
  ],
  agents: {
    guarded: defineAgent({
      description: 'Shows every guard once.',
      prompt: 'You are a careful operator of a small machine.',
      gate: { rules: [{ tool: 'delete_folder', paths: ['system/**'], decision: 'block', reason: 'the system stays' }] },
      completion: { checks: ['plan-finished'] },
      compaction: { softFraction: 0.1, keepRecentTokens: 2_000 },
      budget: { onBudget: 'ask' },
      maxTurns: 15,
    }),
  },
});
