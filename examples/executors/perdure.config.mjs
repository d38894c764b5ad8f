import { fileURLToPath } from 'node:url';
import { defineAgent, defineConfig, defineTool } from 'perdure';
import { z } from 'zod';

/** The data behind the tool. A model cannot guess it. */
const TIDES = { Husum: '14:05', Emden: '12:40', Cuxhaven: '13:20' };

const highTide = defineTool({
  name: 'high_tide',
  description: 'Get the time of the next high tide at a harbour.',
  parameters: z.strictObject({ harbour: z.string().describe('Name of the harbour.') }),
  effect: 'read',
  execute: ({ harbour }) => TIDES[harbour] ?? `no harbour "${harbour}"; available: ${Object.keys(TIDES).join(', ')}`,
});

const ringBell = defineTool({
  name: 'ring_bell',
  description: 'Ring the bell of a harbour once.',
  parameters: z.strictObject({ harbour: z.string(), at: z.string().describe('The time, such as 14:05.') }),
  effect: 'once',
  execute: ({ harbour, at }) => `the bell of ${harbour} rings at ${at}`,
});

/** An executor that runs a Python program of this folder, with the Python that has the framework installed. */
function python(file, more = {}) {
  return {
    kind: 'subprocess',
    command: process.env.EXECUTORS_PYTHON ?? fileURLToPath(new URL('.venv/bin/python', import.meta.url)),
    args: [fileURLToPath(new URL(file, import.meta.url))],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    // a child process gets only these environment variables
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
      description: 'A LangChain agent.',
      prompt: 'You keep the harbours of a coast.',
      // after the loss of its process, the agent restarts from the transcript
      executor: python('langchain_agent.py', { resume: true }),
    }),
    crewai: defineAgent({
      description: 'A CrewAI crew.',
      prompt: 'You keep the harbours of a coast.',
      executor: python('crewai_agent.py'),
    }),
  },
});
