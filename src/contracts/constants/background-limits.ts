/** Limits of background commands. limits.ts exports them too. */

import { KIB, MIB, MINUTE_MS, SECOND_MS } from './units.js';

/** Limits of `start_command`, `command_output` and `stop_command`, and of the process that holds a command. */
export const BACKGROUND_LIMITS = {
  /** Live commands of one run. */
  liveOfRunMax: 8,
  /** Live commands of all runs with one state folder. Each has a holder, a process of about 50 MB. */
  liveOfWorkerMax: 32,
  /** Commands of one run whose output is kept. When another one starts, the oldest ended one is removed. */
  keptOfRunMax: 32,
  /** Longest time that a command lives. It bounds a command whose run nobody can look up any more. */
  lifetimeMsMax: 24 * 60 * MINUTE_MS,
  /** Output of one command. A command with more is stopped: it would write to the disk for ever. */
  outputBytesMax: 256 * MIB,
  /** Beginning of an output that is kept. */
  headBytes: 256 * KIB,
  /** Size of the files behind the beginning. */
  segmentBytes: MIB,
  /** Number of these files that are kept: the end of the output. */
  segmentsMax: 4,
  /** Time for the holder to start the command, after a test of the sandbox. */
  startMsMax: 30 * SECOND_MS,
  /** Time after the start for its first output, or its end. */
  firstOutputMs: 2 * SECOND_MS,
  /** Wait after the first line of output: a command that fails at once has ended by then. */
  settleMs: 300,
  /** Longest wait of `command_output`. A build that prints nothing for minutes must not look like a loop. */
  waitMsMax: 5 * MINUTE_MS,
  /** Time between two looks at the files of a command. */
  lookEveryMs: 100,
  /** Time between two looks of the holder at the protected files. */
  guardEveryMs: 250,
  /** Time between two signs of life of a holder, for workers on other hosts. */
  aliveEveryMs: 10 * SECOND_MS,
  /** A holder on another host without a sign of life for this time is lost. */
  silentMsMax: 60 * SECOND_MS,
  /** Time for a holder to end its command, beside the time between SIGTERM and SIGKILL. Then the holder is killed. */
  endMsMax: 5 * SECOND_MS,
  /** Time between two looks of a worker for commands whose runs have ended. */
  sweepEveryMs: 20 * SECOND_MS,
  /** Time that the files of a command are kept after the end of its run. */
  keepAfterRunMs: 60 * MINUTE_MS,
  /** Time limit of the activity at the end of a run. */
  endRunTimeoutMs: 30 * SECOND_MS,
  /** Time that the end of a run waits for a worker on the host of its workspace. Afterwards, that worker ends the commands itself. */
  endRunQueueMs: 5 * SECOND_MS,
  /** Length of the name of a command. */
  nameCharsMax: 40,
  /**
   * Protected files that a command may create. A command that creates more is killed, because each file is renamed and stays in the
   * workspace.
   */
  refusedMax: 20,
} as const;
