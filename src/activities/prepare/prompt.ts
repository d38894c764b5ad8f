import type { RunContext, RunInput } from '../../contracts/schemas/run.js';
import type { InstructionFile } from './instruction-files.js';

/** The parts of a system prompt. It contains no clock time, so that the prefix stays equal for the provider's cache. */
export interface PromptParts {
  readonly base: string;
  readonly context: RunContext | undefined;
  readonly instructions: readonly InstructionFile[];
  /** The JSON Schema of the final answer. */
  readonly outputSchema: RunInput['outputSchema'];
}

/** Builds the system prompt: base, project, mode, workspace, then instruction files with a header each, then the form of the answer. */
export function buildPrompt({ base, context, instructions, outputSchema }: PromptParts): string {
  const about = [project(context), mode(context), workspace(context), variables(context)];
  const sections = [base, ...about, ...instructions.map(instruction), answerFormat(outputSchema)];
  return sections.filter((section) => section !== '').join('\n\n');
}

function project(context: RunContext | undefined): string {
  return context?.projectPath ? `Project: ${context.projectPath}` : '';
}

function mode(context: RunContext | undefined): string {
  if (context?.mode === 'code') return 'You work on code: read before you edit, change as little as needed, and check what you changed.';
  if (context?.mode === 'ui') return `You work on a user interface.${context.component ? ` Component: ${context.component}` : ''}`;
  return '';
}

function workspace(context: RunContext | undefined): string {
  if (!context?.workspace) return '';
  return 'You have a workspace folder. Paths of the workspace tools are relative to it; nothing outside it can be reached.';
}

function variables(context: RunContext | undefined): string {
  return Object.entries(context?.variables ?? {})
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function instruction({ name, text }: InstructionFile): string {
  return `# Instructions from ${name}\n\n${text.trim()}`;
}

function answerFormat(schema: PromptParts['outputSchema']): string {
  if (!schema) return '';
  return `# Form of the answer\n\nYour last answer must be one JSON value that fits this JSON Schema, and no other text:\n\n${JSON.stringify(schema)}`;
}
