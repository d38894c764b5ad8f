import { setTimeout as pause } from 'node:timers/promises';
import { isPidProvedDead } from './state-folder/process-identity.js';

const POLL_MS = 20;

/** Ends a process of this place: SIGTERM, after `graceMs` SIGKILL; resolves when it is gone. Never signals a process that was given the same pid later. */
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
    // it ended between the look and the signal: that is what was wanted
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
