import { readFile } from 'node:fs/promises';
import { defineAgent, defineConfig, defineTool } from 'perdure';
import { z } from 'zod';

/** A tool that reads a ticket. Replace the body with a request to your ticket system. */
const readTicket = defineTool({
  name: 'read_ticket',
  description: 'Read a ticket by its number.',
  parameters: z.strictObject({ number: z.number().int().positive() }),
  // a read has no side effects, so Perdure repeats it after a crash
  effect: 'read',
  execute: async ({ number }) => {
    const tickets: Record<string, { title: string; body: string }> = JSON.parse(
      await readFile(new URL('tickets.json', import.meta.url), 'utf8'),
    );
    const ticket = tickets[number];
    if (!ticket) throw new Error(`ticket ${number} does not exist; available: ${Object.keys(tickets).join(', ')}`);
    return ticket;
  },
});

export default defineConfig({
  // plays recorded responses without a key; select a real model with --model or PERDURE_MODEL
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
