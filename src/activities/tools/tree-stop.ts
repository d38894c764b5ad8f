import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { TOOL_LIMITS } from '../../contracts/constants/limits.js';

/** Killed processes stay visible until the system collects them; some containers never do, so this is all they are waited for. */
export const COLLECT_MS_MAX = 300;
const COLLECT_EVERY_MS = 5;

/** Ends a process that leads a group of its own, and all of that group, gently and then not. `Reason`: why it was ended. */
export class TreeStop<Reason extends string> {
  reason: Reason | undefined;
  private killTimer: NodeJS.Timeout | undefined;
  private readonly child: ChildProcess;

  constructor(child: ChildProcess) {
    this.child = child;
  }

  /** TERM to all now, KILL after the grace. The first reason stands. */
  now(reason: Reason): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    signalGroup(this.child, 'SIGTERM');
    this.killTimer = setTimeout(() => signalGroup(this.child, 'SIGKILL'), TOOL_LIMITS.killGraceMs);
  }

  /** After the end of the first process: what it left behind is killed, and has been collected by the system when this resolves. */
  async rest(): Promise<void> {
    clearTimeout(this.killTimer);
    const until = Date.now() + COLLECT_MS_MAX;
    while (signalGroup(this.child, 'SIGKILL') && Date.now() < until) await delay(COLLECT_EVERY_MS);
  }
}

/** False when no process of the group is left. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, signal);
  } catch {
    // ESRCH: nobody is left to be told
    return false;
  }
}
