import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AUTH_LIMITS, SCHEDULE_LIMITS } from '../../contracts/constants/limits.js';
import { hashJson } from '../../contracts/digest.js';
import { unlessMissing } from '../../contracts/files/file-errors.js';
import { isSignedBy, readSignature } from '../../contracts/signature.js';
import { type Firing, grantFileName, readFiring } from '../../contracts/text/schedules/firing.js';
import { parseGrant, type ScheduleGrant } from '../../contracts/text/schedules/schedule.js';
import { isTimeOf } from '../../contracts/text/schedules/times.js';

/** What a schedule of the owner may start. `folder`: the grants, `key`: that of the owner. */
export interface GrantOptions {
  readonly key: Uint8Array;
  readonly folder: string;
}

/** An unsigned start. */
export interface UnsignedStart {
  readonly runId: string;
  readonly input: object;
}

/**
 * Checks whether the owner of the embedded server scheduled a start. `once` names it: each time of a schedule counts for one start. `problem`:
 * a schedule of this name has a grant, which does not allow the start. Undefined for a start that no schedule made.
 */
export async function checkFiring(
  { runId, input }: UnsignedStart,
  { key, folder }: GrantOptions,
): Promise<{ readonly once: string } | { readonly problem: string } | undefined> {
  const firing = readFiring(runId);
  const grant = firing && (await readGrant(firing.name, { key, folder }));
  if (!firing || !grant) return undefined;
  const problem = problemOf(firing, grant, input);
  if (problem !== undefined) return { problem: `schedule ${firing.name} ${problem}` };
  return { once: `schedule ${firing.name} ${firing.atMs}` };
}

/** A grant that the owner signed. Undefined for anything else, such as a file that another user wrote. */
async function readGrant(name: string, { key, folder }: GrantOptions): Promise<ScheduleGrant | undefined> {
  const text = await readFile(join(folder, grantFileName(name)), 'utf8').catch(unlessMissing);
  if (text === undefined) return undefined;
  const grant = parseGrant(text);
  const signature = readSignature(grant?.auth);
  if (!grant || !signature || grant.name !== name) return undefined;
  return isSignedBy(key, { verb: 'schedule', runId: name, input: grant }, signature) ? grant : undefined;
}

function problemOf({ atMs }: Firing, { inputHash, times, periods }: ScheduleGrant, given: object): string | undefined {
  const { auth: _, ...input } = given as { readonly auth?: unknown };
  const at = new Date(atMs).toISOString();
  if (hashJson(input) !== inputHash) return 'has another input than the one that its owner gave it';
  if (atMs > Date.now() + SCHEDULE_LIMITS.clockSkewMs) return `starts at ${at}, which is in the future`;
  // the use of a time is remembered for longer
  if (atMs < Date.now() - AUTH_LIMITS.rememberedMs) return `had to start at ${at}, which is too long ago`;
  if (!isTimeOf(times, atMs)) return `has no start at ${at}; start it now with 'perdure schedule run'`;
  const isActive = periods.some(({ fromMs, toMs = Number.POSITIVE_INFINITY }) => atMs >= fromMs && atMs <= toMs);
  return isActive ? undefined : `was not active at ${at}; resume it with 'perdure schedule resume'`;
}
