import { readFile } from 'node:fs/promises';
import { defineAgent, defineConfig, defineTool } from 'perdure';
import { z } from 'zod';

/** Stands for the service that keeps your tickets: any TypeScript that you like. */
const readTicket = defineTool({
  name: 'read_ticket',
  description: 'Read a ticket by its number.',
  parameters: z.strictObject({ number: z.number().int().positive() }),
  // it changes nothing, so after a crash it may simply run again
  effect: 'read',
  execute: async ({ number }) => {
    const tickets: Record<string, { title: string; body: string }> = JSON.parse(
      await readFile(new URL('tickets.json', import.meta.url), 'utf8'),
    );
    const ticket = tickets[number];
    if (!ticket) throw new Error(`there is no ticket ${number}; there are: ${Object.keys(tickets).join(', ')}`);
    return ticket;
  },
});

export default defineConfig({
  // plays recorded answers, so that no key is needed; --model or PERDURE_MODEL names a real one
  model: 'scripted/fix-ticket.yaml',
  tools: [readTicket],
  agents: {
    fixer: defineAgent({
      description: 'Fixes a ticket in a small code base.',
      prompt:
        'You fix tickets in the workspace. Read the ticket, look at the code, run its tests with `node --test`, make the smallest ' +
        'change that fixes the ticket, run the tests again, and add a line to CHANGES.md. End with one sentence on what was wrong.',
      maxTurns: 15,
    }),
  },
});
