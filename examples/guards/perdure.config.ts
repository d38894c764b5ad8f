import { defineAgent, defineConfig, defineHook, defineTool } from 'perdure';
import { z } from 'zod';

/** A lookup whose result never changes: it is `pure`, so the run reuses the result. */
const lookUp = defineTool({
  name: 'look_up',
  description: 'Look up a word.',
  parameters: z.strictObject({ word: z.string() }),
  effect: 'read',
  pure: true,
  execute: ({ word }) => `${word}: a word of ${word.length} letters`,
});

/** A sensor that always returns the same value, so repeated calls are a loop. */
const readSensor = defineTool({
  name: 'read_sensor',
  description: 'Read a sensor.',
  parameters: z.strictObject({ name: z.string(), note: z.string().optional() }),
  effect: 'read',
  execute: ({ name }) => `${name}: 21.5 °C`,
});

/** An output above the limit of a tool result. */
const readLog = defineTool({
  name: 'read_log',
  description: 'Read the whole log.',
  parameters: z.strictObject({}),
  effect: 'read',
  execute: () => Array.from({ length: 6_000 }, (_, line) => `line ${line + 1}: all quiet, token=secret-${line}`).join('\n'),
});

/** A tool that needs an approval. */
const deploy = defineTool({
  name: 'deploy',
  description: 'Deploy to production.',
  parameters: z.strictObject({ version: z.string() }),
  approval: 'always',
  execute: ({ version }) => `version ${version} is live`,
});

/** A tool that the gate blocks for system folders. */
const deleteFolder = defineTool({
  name: 'delete_folder',
  description: 'Delete a folder of the machine.',
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
      description: 'Triggers every guard once.',
      prompt: 'You are a careful operator of a small machine.',
      gate: { rules: [{ tool: 'delete_folder', paths: ['system/**'], decision: 'block', reason: 'system folders must not be deleted' }] },
      completion: { checks: ['plan-finished'] },
      compaction: { softFraction: 0.1, keepRecentTokens: 2_000 },
      budget: { onBudget: 'ask' },
      maxTurns: 15,
    }),
  },
});
