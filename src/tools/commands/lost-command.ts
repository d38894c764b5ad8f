import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { writeFileDurably } from '../../artifacts/durable-file.js';
import { BACKGROUND_LIMITS } from '../../contracts/constants/limits.js';
import { isOfThisPlace, isProvedDead } from '../../process/process-identity.js';
import { openJail } from '../workspace/jail.js';
import { protectedState, refuseReplaced } from '../workspace/protected-paths.js';
import { COMMAND_FILES, CommandEnd, type CommandRecord, readCommandFile } from './command-record.js';

/** Where a command is, and what it is. */
interface Held {
  readonly folder: string;
  readonly record: CommandRecord;
}

/**
 * Why a command without an end is lost. Undefined while its holder lives: on this host by proof, elsewhere by its signs of life. A command
 * never outlives its holder: the kernel ends both.
 */
export async function lossOf({ folder, record: { holder } }: Held): Promise<string | undefined> {
  if (isOfThisPlace(holder)) return isProvedDead(holder) ? 'the process that held it was killed' : undefined;
  const aliveAt = (await stat(join(folder, COMMAND_FILES.record)).catch(() => undefined))?.mtimeMs ?? 0;
  if (Date.now() - aliveAt < BACKGROUND_LIMITS.silentMsMax) return undefined;
  return isOwnHost(holder.host) ? 'the host or its container restarted' : `its host ${holder.host} no longer shows a sign of life`;
}

function isOwnHost(host: string): boolean {
  return host === hostname().replaceAll('/', '_');
}

/** Writes how a lost command ended, after what its holder could not do: what it made in protected places is renamed. Never rejects. */
export async function settleLost({ folder, record }: Held, why: string): Promise<CommandEnd> {
  // the holder may have reported its end just before it exited
  const told = await readCommandFile(folder, COMMAND_FILES.end, CommandEnd);
  if (told) return told;
  const refused = await refuseMade(record).catch(() => []);
  const end: CommandEnd = { endedBy: 'lost', reached: [], refused: [...refused], why, endedAt: Date.now() };
  // its folder may be gone with its run
  await writeFileDurably(join(folder, COMMAND_FILES.end), `${JSON.stringify(end)}\n`).catch(() => undefined);
  return end;
}

/** Of a command of this boot: what is there after a restart may be its owner's. */
async function refuseMade({
  workspace,
  holder,
  protected: entries,
  before: { marks, folders },
}: CommandRecord): Promise<readonly string[]> {
  if (!isOfThisPlace(holder) || entries.length === 0) return [];
  const before = { marks: new Map(marks), folders };
  const jail = await openJail(workspace);
  return await refuseReplaced(jail, await protectedState(jail, entries), before, [...before.marks.keys()]);
}
