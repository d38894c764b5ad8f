import type { Arena, WorkerSlot } from '../arena/arena.js';
import type { WorkerProcess } from '../arena/worker-process.js';
import type { Boundary } from '../child/protocol.js';
import { FAULTS } from '../faults/faults.js';
import { type CrashPlan, momentName, type PlannedFault, type PlannedMessage } from '../plan/plan.js';

/** A fault that struck. */
export interface Hit {
  readonly planned: PlannedFault;
  /** Name of its moment. */
  readonly boundary: string;
  /** What the struck worker was doing for the run. */
  readonly during: 'tool' | 'model' | 'report' | 'other';
}

/** Options of a conductor. */
export interface ConductorOptions {
  readonly arena: Arena;
  readonly runId: string;
  readonly plan: CrashPlan;
  /** Called for each message that is due. */
  readonly onMessage: (message: PlannedMessage) => void;
}

/** Follows one run from boundary to boundary, and makes the faults of its plan. */
export class Conductor {
  readonly hits: Hit[] = [];
  /** Names of the boundaries that the run has passed. */
  readonly passed: string[] = [];
  /** The worker processes that worked for the run. */
  readonly pids = new Set<number>();
  /** Faults that could not be made or healed, one line each. */
  readonly problems: string[] = [];
  /** Time of the start, or of the last change by a fault. */
  changedAt = Date.now();
  readonly #options: ConductorOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #healing = new Set<Promise<void>>();
  #isOver = false;

  constructor(options: ConductorOptions) {
    this.#options = options;
  }

  /** True while a fault is not healed. */
  get isStriking(): boolean {
    return this.#healing.size > 0;
  }

  /** Makes the faults that are due at this boundary. Resolves when the worker may continue. */
  async atBoundary(worker: WorkerProcess, boundary: Boundary): Promise<void> {
    // `reported` comes at a time of its own, so counting it would make the numbers of boundaries vary
    if (boundary.runId !== this.#options.runId || boundary.point === 'reported' || this.#isOver) return;
    const { plan, onMessage } = this.#options;
    this.passed.push(boundaryName(boundary));
    this.pids.add(worker.pid);
    const number = this.passed.length;
    for (const message of plan.messages) if (message.boundary === number) onMessage(message);
    for (const planned of plan.faults.filter((fault) => fault.boundary === number)) {
      if (planned.afterMs === 0) await this.#strike(planned, worker);
      else this.#strikeLater(planned, worker);
    }
  }

  /** Makes no further fault, and resolves when all are healed. */
  async finish(): Promise<void> {
    this.#isOver = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.#healing);
  }

  #strikeLater(planned: PlannedFault, worker: WorkerProcess): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#strike(planned, worker);
    }, planned.afterMs);
    this.#timers.add(timer);
  }

  async #strike(planned: PlannedFault, wanted: WorkerProcess): Promise<void> {
    const { arena, runId } = this.#options;
    const slot = arena.slotOf(wanted) ?? arena.slots.find(({ worker }) => worker.isAlive) ?? arena.slots[0];
    const struck = FAULTS[planned.fault];
    if (!slot || !struck.strike) return;
    const hit = { planned, boundary: momentName(this.passed, planned), during: doing(slot, runId) };
    const { fault, forMs } = planned;
    const made = struck.strike({ arena, slot, forMs });
    const over = made
      .then((heal) => {
        if (!heal) return undefined;
        this.hits.push(hit);
        this.changedAt = Date.now();
        return heal();
      })
      .catch((error: unknown) => void this.problems.push(`${fault}: ${error instanceof Error ? error.message : String(error)}`));
    this.#healing.add(over);
    void this.#noteEnd(over);
    // a fault that could not be made is already a problem
    await made.catch(() => undefined);
  }

  async #noteEnd(over: Promise<void>): Promise<void> {
    await over;
    this.changedAt = Date.now();
    this.#healing.delete(over);
  }
}

/** `callTool charge: inside` */
function boundaryName({ activity, tool, point }: Boundary): string {
  return `${activity}${tool === undefined ? '' : ` ${tool}`}: ${point}`;
}

function doing({ worker }: WorkerSlot, runId: string): Hit['during'] {
  const open = worker.open.filter((one) => one.runId === runId);
  if (open.some(({ activity, point }) => activity === 'callTool' && point === 'inside')) return 'tool';
  if (open.some(({ activity, point }) => activity === 'callModel' && point === 'inside')) return 'model';
  return open.some(({ point }) => point === 'after') ? 'report' : 'other';
}
