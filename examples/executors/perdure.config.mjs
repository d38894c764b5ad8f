import { fileURLToPath } from 'node:url';
import { defineAgent, defineConfig, defineTool } from 'perdure';
import { z } from 'zod';

/** What the agents may look up: nothing that can be guessed. */
const TIDES = { Husum: '14:05', Emden: '12:40', Cuxhaven: '13:20' };

const highTide = defineTool({
  name: 'high_tide',
  description: 'The time of the next high tide at a harbour.',
  parameters: z.strictObject({ harbour: z.string().describe('Its name.') }),
  effect: 'read',
  execute: ({ harbour }) => TIDES[harbour] ?? `no harbour ${harbour}; there are: ${Object.keys(TIDES).join(', ')}`,
});

const ringBell = defineTool({
  name: 'ring_bell',
  description: 'Rings the bell of a harbour once.',
  parameters: z.strictObject({ harbour: z.string(), at: z.string().describe('The time, such as 14:05.') }),
  effect: 'once',
  execute: ({ harbour, at }) => `the bell of ${harbour} rings at ${at}`,
});

/** A Python program of this folder as an agent. The Python is the one that has the framework. */
function python(file, more = {}) {
  return {
    kind: 'subprocess',
    command: process.env.EXECUTORS_PYTHON ?? fileURLToPath(new URL('.venv/bin/python', import.meta.url)),
    args: [fileURLToPath(new URL(file, import.meta.url))],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    // of the worker's environment a child gets only what is named here
    env: {
      OPENAI_API_KEY: 'env:OPENAI_API_KEY',
      OPENAI_BASE_URL: process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1',
      OPENAI_MODEL: process.env.OPENAI_MODEL ?? 'gpt-5.4-mini',
    },
    ...more,
  };
}

export default defineConfig({
  tools: [highTide, ringBell],
  agents: {
    langchain: defineAgent({
      description: 'An agent of LangChain.',
      prompt: 'You keep the harbours of a coast.',
      // it can begin from a transcript: a lost process is started again with what was said so far
      executor: python('langchain_agent.py', { resume: true }),
    }),
    crewai: defineAgent({
      description: 'A crew of CrewAI.',
      prompt: 'You keep the harbours of a coast.',
      executor: python('crewai_agent.py'),
    }),
  },
});
