import { liveProcesses } from '../../tools/support/live-processes.js';

/** Kills what a test started and marked, and has not ended. */
export async function killMarked(marker: string): Promise<void> {
  for (const pid of await liveProcesses(marker)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // those of one namespace end together
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}
