import { z } from 'zod';
import { MEMORY_LIMITS } from '../../contracts/constants/limits.js';
import { type AnyToolDefinition, defineTool, type ToolContext } from '../../define/define-tool.js';
import type { MemoryDefinition } from '../../define/worker/memory.js';
import { addNote, openMemory } from './memory-folder.js';
import { searchNotes } from './memory-index.js';
import type { Note } from './notes.js';

/** The names of the tools. */
export const MEMORY_TOOLS = ['remember', 'recall'] as const;

const RememberArguments = z.strictObject({
  text: z
    .string()
    .max(MEMORY_LIMITS.noteCharsMax, `is longer than ${MEMORY_LIMITS.noteCharsMax} characters: write a file`)
    .refine((text) => text.trim() !== '', 'is empty')
    .describe('The note: one fact or decision, with what is needed to understand it later.'),
  tags: z
    .array(
      z
        .string()
        .max(MEMORY_LIMITS.tagCharsMax)
        .regex(/^[\p{L}\p{N}_-]+$/u, 'use letters, digits, _ and - in a tag'),
    )
    .max(MEMORY_LIMITS.tagsMax)
    .optional()
    .describe('Tags that help to find the note.'),
});

const RecallArguments = z.strictObject({
  query: z.string().min(1).max(1_000).describe('Words that the note contains.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MEMORY_LIMITS.recalledMax)
    .optional()
    .describe(`Maximum number of notes. Default ${MEMORY_LIMITS.recalledDefault}.`),
});

/**
 * Creates the tools of a memory. `remember` is idempotent: a repeated call adds its note once. What `recall` finds is a tool result, so it is
 * in the transcript, and a replay or another worker sees the same.
 */
export function createMemoryTools(memory: MemoryDefinition): readonly AnyToolDefinition[] {
  return [
    defineTool({
      name: MEMORY_TOOLS[0],
      description: 'Keep a note for later runs. Use it for facts and decisions that will matter again, not for the steps of this task.',
      parameters: RememberArguments,
      effect: 'idempotent',
      network: false,
      execute: async ({ text, tags = [] }, { workspace, idempotencyKey: key, signal }: ToolContext) => {
        const place = await openMemory(memory, workspace);
        signal.throwIfAborted();
        return `remembered in ${await addNote(place, { text, tags, key }, new Date())}`;
      },
    }),
    defineTool({
      name: MEMORY_TOOLS[1],
      description: 'Search the notes of earlier runs by their words. Use it before you ask or guess what an earlier run may have noted.',
      parameters: RecallArguments,
      effect: 'read',
      network: false,
      execute: async ({ query, limit = MEMORY_LIMITS.recalledDefault }, { workspace }: ToolContext) => {
        const notes = await searchNotes(await openMemory(memory, workspace), query, limit);
        return notes.length === 0 ? 'no note has these words' : notes.map(shown).join('\n\n');
      },
    }),
  ];
}

function shown({ place, title, text, tags }: Note): string {
  const heading = [place, title, ...tags.map((tag) => `#${tag}`)].filter((part) => part !== '').join(' ');
  return `[${heading}]\n${text}`;
}
