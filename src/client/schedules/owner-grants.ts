import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SCHEDULE_LIMITS } from '../../contracts/constants/limits.js';
import { hashJson } from '../../contracts/digest.js';
import { unlessMissing } from '../../contracts/files/file-errors.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { grantFileName } from '../../contracts/text/schedules/firing.js';
import { parseGrant, type ScheduleGrant, type ScheduleTimes } from '../../contracts/text/schedules/schedule.js';
import type { Signer } from '../temporal/signer.js';

/** What a schedule may start, and when. */
interface Allowed {
  readonly name: string;
  readonly times: ScheduleTimes;
  readonly input: object;
}

/**
 * What schedules may start at an embedded server, which is open to all users of the machine. Anybody could read the input of a schedule and
 * start it, or change the schedule. So the input has no signature: the owner writes down, in the state folder, what each schedule may start and
 * when, and the worker checks each start. Without the owner's key, every method does nothing.
 */
export class OwnerGrants {
  readonly #folder: string | undefined;
  readonly #sign: Signer;

  /** `stateDir`: the folder of the embedded server. Undefined for another server. */
  constructor(stateDir: string | undefined, sign: Signer) {
    this.#folder = stateDir === undefined ? undefined : join(stateDir, 'schedules');
    this.#sign = sign;
  }

  /**
   * Writes down what a schedule that is created next may start, which it does not start before `allow` or `resume`. Returns what puts the earlier
   * grant of this name back. A process that is killed after the creation leaves a grant, so that the owner can resume the schedule.
   */
  async prepare({ name, times, input }: Allowed): Promise<() => Promise<void>> {
    const before = await this.#read(name);
    await this.#write({ v: 1, name, inputHash: hashJson(input), times, periods: [] });
    return async () => await (before ? this.#write(before) : this.revoke(name));
  }

  /** Allows a schedule to start an input from now on. Replaces the grant of an earlier schedule of this name. */
  async allow({ name, times, input }: Allowed): Promise<void> {
    await this.#write({ v: 1, name, inputHash: hashJson(input), times, periods: [{ fromMs: Date.now() }] });
  }

  /** Ends the period in which a schedule is active. */
  async pause(name: string): Promise<void> {
    const grant = await this.#read(name);
    const last = grant?.periods.at(-1);
    if (!grant || !last || last.toMs !== undefined) return;
    await this.#write({ ...grant, periods: [...grant.periods.slice(0, -1), { ...last, toMs: Date.now() }] });
  }

  /** Begins another period in which a schedule is active. */
  async resume(name: string): Promise<void> {
    const grant = await this.#read(name);
    const last = grant?.periods.at(-1);
    if (!grant || (last && last.toMs === undefined)) return;
    await this.#write({ ...grant, periods: [...grant.periods, { fromMs: Date.now() }].slice(-SCHEDULE_LIMITS.periodsMax) });
  }

  /**
   * True if the owner allowed this input, false if nothing is known of the schedule. Throws `SCHEDULE_CHANGED` (4) for another input: someone
   * else changed the schedule, so its owner must not sign what it would start.
   */
  async allows(name: string, input: object): Promise<boolean> {
    const grant = await this.#read(name);
    if (!grant) return false;
    if (grant.inputHash === hashJson(input)) return true;
    const what = `schedule ${name} has another task than the one that it was created with`;
    throw new PerdureError('SCHEDULE_CHANGED', `${what}; check it with 'perdure schedule show ${name}', then delete and create it`, 4);
  }

  /** Takes back what a schedule may start. */
  async revoke(name: string): Promise<void> {
    if (this.#folder !== undefined) await rm(this.#file(this.#folder, name), { force: true });
  }

  async #read(name: string): Promise<ScheduleGrant | undefined> {
    if (this.#folder === undefined) return undefined;
    const text = await readFile(this.#file(this.#folder, name), 'utf8').catch(unlessMissing);
    // a worker checks the signature; here, only the owner's own files count
    return text === undefined ? undefined : parseGrant(text);
  }

  async #write(given: ScheduleGrant): Promise<void> {
    const { auth: _, ...grant } = given;
    const auth = await this.#sign({ verb: 'schedule', runId: grant.name, input: grant });
    if (this.#folder === undefined || auth === undefined) return;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = this.#file(this.#folder, grant.name);
    const temporary = `${file}.${randomBytes(4).toString('hex')}`;
    await writeFile(temporary, `${JSON.stringify({ ...grant, auth })}\n`, { mode: 0o600, flag: 'wx' });
    await rename(temporary, file);
  }

  #file(folder: string, name: string): string {
    return join(folder, grantFileName(name));
  }
}
