import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Identifies one process of one boot of one machine. A pid is reused after some time, but never with the same start time.
 * `start` is in clock ticks since boot (Linux) or seconds since 1970 (elsewhere, from `ps`).
 */
export interface ProcessIdentity {
  readonly host: string;
  readonly boot: string;
  readonly pidNamespace: string;
  readonly pid: number;
  readonly start: string;
}

/** The state of a pid of this place: running since `start`, gone, or unknown because it is not visible. */
export type ProcessState = { readonly kind: 'running'; readonly start: string } | { readonly kind: 'gone' } | { readonly kind: 'unknown' };

const IDENTITY_PREFIX = 'perdure';
const here = { host: hostname().replaceAll('/', '_') || 'localhost', boot: bootId(), pidNamespace: pidNamespace() };

/** This host, boot and pid namespace, whose processes can be looked up. A hash of 8 hex digits, for file names. */
export const OWN_PLACE = createHash('sha256').update(`${here.host}/${here.boot}/${here.pidNamespace}`).digest('hex').slice(0, 8);

/** The identity of a process of this place, or undefined if it is gone or not visible. @default pid this process */
export function processIdentity(pid: number = process.pid): ProcessIdentity | undefined {
  const state = processState(pid);
  return state.kind === 'running' ? { ...here, pid, start: state.start } : undefined;
}

/**
 * True only with proof: the process belongs to this host, boot and pid namespace, and its pid is gone or was reused. Always false for
 * a process of another place. Never throws.
 */
export function isProvedDead(identity: ProcessIdentity): boolean {
  if (!isOfThisPlace(identity)) return false;
  const state = processState(identity.pid);
  return state.kind === 'gone' || (state.kind === 'running' && state.start !== identity.start);
}

/** True for a process of this host, boot and pid namespace. */
export function isOfThisPlace({ host, boot, pidNamespace: namespace }: ProcessIdentity): boolean {
  return host === here.host && boot === here.boot && namespace === here.pidNamespace;
}

/** True if the pid of this place is proved not to be the process that started at `start`. Never throws. */
export function isPidProvedDead(pid: number, start: string): boolean {
  return isProvedDead({ ...here, pid, start });
}

/** Creates an identity for a Temporal worker of this process: `perdure/<host>/<boot>/<pid namespace>/<pid>/<start>/<random>`. */
export function newWorkerIdentity(): string {
  const own = processIdentity();
  if (!own) throw new Error(`cannot read the start time of process ${process.pid}`);
  return [IDENTITY_PREFIX, own.host, own.boot, own.pidNamespace, own.pid, own.start, randomBytes(4).toString('hex')].join('/');
}

/** Parses a worker identity. Undefined for the identity of another kind of worker. */
export function parseWorkerIdentity(text: string): ProcessIdentity | undefined {
  const [prefix, host, boot, namespace, pid, start, random, ...rest] = text.split('/');
  if (prefix !== IDENTITY_PREFIX || !host || !boot || !namespace || !start || !random || rest.length > 0) return undefined;
  if (!pid || !/^[1-9]\d*$/u.test(pid)) return undefined;
  return { host, boot, pidNamespace: namespace, pid: Number(pid), start };
}

/** Looks up a pid of this place. A zombie counts as gone. Never throws. */
export function processState(pid: number): ProcessState {
  return process.platform === 'linux' ? linuxProcessState(pid) : portableProcessState(pid);
}

/** The arguments of a process of this place, its program first. Undefined if they are not visible. Never throws. */
export function argumentsOf(pid: number): readonly string[] | undefined {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    const text = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
    // `ps` separates by spaces only: the value of an option, which may contain spaces, ends at the next option
    return text.trim().split(/ (?=--)|(?<= --[\w-]+) /u);
  } catch {
    // the process has exited, or belongs to another user
    return undefined;
  }
}

function linuxProcessState(pid: number): ProcessState {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    // with hidepid, living processes of other users have no entry in /proc
    return signalReaches(pid) ? { kind: 'unknown' } : { kind: 'gone' };
  }
  // the command name (field 2) may contain spaces and brackets, so fields are counted from its end
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const threads = Number(fields[17]);
  const start = fields[19];
  // a killed process is first a zombie; until its other threads end, it still holds files and ports
  if ((state === 'Z' || state === 'X') && threads <= 1) return { kind: 'gone' };
  return start ? { kind: 'running', start } : { kind: 'unknown' };
}

/** The start time has a resolution of 1 s. A pid reused within one second counts as the old process, never as dead. */
function portableProcessState(pid: number): ProcessState {
  if (!signalReaches(pid)) return { kind: 'gone' };
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
    const startMs = Date.parse(started.trim());
    return Number.isNaN(startMs) ? { kind: 'unknown' } : { kind: 'running', start: String(startMs / 1000) };
  } catch {
    // `ps` fails if the process has just exited; the next check detects that
    return { kind: 'unknown' };
  }
}

function signalReaches(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function bootId(): string {
  if (process.platform === 'linux')
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim().replaceAll('-', '').slice(0, 12);
  const session = execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'latin1' });
  return session.trim().replaceAll('-', '').slice(0, 12);
}

function pidNamespace(): string {
  if (process.platform !== 'linux') return 'host';
  return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/gu, '');
}

const POLL_MS = 20;

/**
 * Stops a process of this place: SIGTERM, then SIGKILL after `graceMs`. Resolves when it is gone. Never signals a later process with the
 * same pid. The caller has checked what the process is: a pid and start time from a file prove nothing about that.
 */
export async function stopProcess(pid: number, start: string, graceMs: number): Promise<void> {
  const killAt = Date.now() + graceMs;
  let killed = false;
  signal(pid, start, 'SIGTERM');
  while (!isPidProvedDead(pid, start)) {
    if (!killed && Date.now() > killAt) {
      signal(pid, start, 'SIGKILL');
      killed = true;
    }
    await pause(POLL_MS);
  }
}

function signal(pid: number, start: string, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (!isPidProvedDead(pid, start)) process.kill(pid, name);
  } catch (error) {
    // the process exited between the check and the signal
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
