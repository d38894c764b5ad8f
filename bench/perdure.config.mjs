import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { defineAgent, defineConfig, defineTool } from 'perdure';
import { z } from 'zod';

const KIB = 'r'.repeat(1_024);
const mark = (what) => appendFileSync(process.env.BENCH_MARKS, `${JSON.stringify({ what, at: Date.now() })}\n`);

const echo = defineTool({
  name: 'echo',
  description: 'Answers with one KiB.',
  parameters: z.strictObject({ turn: z.string() }),
  // the same answer again and again would be a loop, and be stopped as one
  execute: ({ turn }) => `${turn}\n${KIB}`,
});

const wait = defineTool({
  name: 'wait',
  description: 'Waits until it is released or stopped.',
  parameters: z.strictObject({ turn: z.string() }),
  timeoutMs: 10 * 60_000,
  execute: async (_, { signal }) => {
    mark('waiting');
    while (!signal.aborted && !existsSync(process.env.BENCH_RELEASE)) await pause(100, undefined, { signal }).catch(() => mark('stopped'));
    return 'released';
  },
});

const agents = {
  lead: defineAgent({ description: 'Delegates.', prompt: 'Delegate.', subagents: ['scout'] }),
  scout: defineAgent({ description: 'Works.', prompt: 'Work.' }),
};

export default defineConfig({ model: 'openai/bench', tools: [echo, wait], agents });
