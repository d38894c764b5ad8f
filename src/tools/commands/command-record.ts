import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ToolContext } from '../../define/define-tool.js';

const Identity = z.object({ host: z.string(), boot: z.string(), pidNamespace: z.string(), pid: z.number(), start: z.string() });

/** The run that a command belongs to: its id, and the id of its first execution, which a later run of the same id does not have. */
const CommandRun = z.object({ runId: z.string(), chain: z.string() });
export type CommandRun = z.infer<typeof CommandRun>;

/** What is known of a command from its start on. The holder writes it before it starts the command. */
export const CommandRecord = z.object({
  v: z.literal(1),
  id: z.string(),
  run: CommandRun,
  name: z.string().optional(),
  command: z.string(),
  /** The real path of the workspace. */
  workspace: z.string(),
  /** Milliseconds since 1970. */
  startedAt: z.number(),
  holder: Identity,
  /** What only the owner of the project changes. */
  protected: z.array(z.string()),
  /** The protected files when the oldest live command of the workspace began. */
  before: z.object({ marks: z.array(z.tuple([z.string(), z.string()])), folders: z.array(z.string()) }),
});
export type CommandRecord = z.infer<typeof CommandRecord>;

/** The network that the command shares with other commands of its run. */
export const NetworkRecord = z.object({ pid: z.number(), start: z.string(), inode: z.string() });

/**
 * Who asked for the end of a command. `uncovered`: its owner replaced a protected file, so that it was not covered any more. `refused`: it
 * made many protected files.
 */
export const StopReason = z.enum(['stop_command', 'run ended', 'uncovered', 'refused']);
export type StopReason = z.infer<typeof StopReason>;

const LimitNames = z.enum(['processes', 'memoryBytes', 'cpuMs', 'fileBytes', 'openFiles']);

/** How a command ended. `lost` has no exit code: its holder could not report it. */
export const CommandEnd = z.object({
  endedBy: z.enum(['itself', 'timeout', 'output', 'stopped', 'lost']),
  reason: StopReason.optional(),
  /** As in a shell: 128 + n after signal n. */
  exitCode: z.number().optional(),
  reached: z.array(LimitNames),
  /** Limits of the command, to name the one that it reached. */
  limits: z.record(LimitNames, z.number()).optional(),
  /** Protected files that it made, and that were renamed. */
  refused: z.array(z.string()),
  /** Why it is lost, or what failed beside it. */
  why: z.string().optional(),
  endedAt: z.number(),
});
export type CommandEnd = z.infer<typeof CommandEnd>;

/** The files of a command, in its folder. */
export const COMMAND_FILES = {
  record: 'record.json',
  network: 'network.json',
  /** Its holder ends the command when this file appears. */
  stop: 'stop.json',
  end: 'end.json',
} as const;

/** The run of a call: its key begins with the id of the run and of its first execution. */
export function runOfCall({ runId, idempotencyKey }: Pick<ToolContext, 'runId' | 'idempotencyKey'>): CommandRun {
  const [chain = ''] = idempotencyKey.startsWith(`${runId}/`) ? idempotencyKey.slice(runId.length + 1).split('/') : [];
  return { runId, chain };
}

/** The id of the command that a call starts. The same call has the same id, so that it starts it once. */
export function commandId({ idempotencyKey }: Pick<ToolContext, 'idempotencyKey'>): string {
  return `cmd-${hash(idempotencyKey).slice(0, 12)}`;
}

/** The folder of the commands of a run. */
export function runFolder(folder: string, { runId, chain }: CommandRun): string {
  return join(folder, hash(JSON.stringify([runId, chain])).slice(0, 24));
}

/** Reads a file of a command. Undefined if it is missing, or not of this version. */
export async function readCommandFile<T>(folder: string, name: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    const { success, data } = schema.safeParse(JSON.parse(await readFile(join(folder, name), 'utf8')));
    return success ? data : undefined;
  } catch {
    // not there yet, or a disk lost a part of it
    return undefined;
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
