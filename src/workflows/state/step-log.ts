import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { Usage } from '../../contracts/schemas/model.js';
import type { Step } from '../../contracts/schemas/step.js';

/** The steps of a run, one for each turn, oldest first, limited in number. They are workflow state only. */
export class StepLog {
  readonly #steps: Step[];

  constructor(carried: readonly Step[] = []) {
    this.#steps = [...carried];
  }

  /** Opens a step. It replaces an open step of the same turn, which continue-as-new repeats. */
  open(step: Pick<Step, 'agent' | 'index' | 'started' | 'group'>): void {
    const last = this.#steps.at(-1);
    if (last?.index === step.index && last.status === 'running') this.#steps.pop();
    this.#steps.push({ ...step, status: 'running' });
    if (this.#steps.length > PAYLOAD_LIMITS.stepsMax) this.#steps.shift();
  }

  /** Adds facts to the open step. */
  update(facts: { readonly usage?: Usage; readonly toolSignature?: string }): void {
    const last = this.#steps.at(-1);
    if (last?.status === 'running') this.#steps[this.#steps.length - 1] = { ...last, ...facts };
  }

  /** Counts a call of the open step whose outcome is unknown. */
  countUnknown(): void {
    const last = this.#steps.at(-1);
    if (last?.status === 'running') this.#steps[this.#steps.length - 1] = { ...last, unknownOutcomes: (last.unknownOutcomes ?? 0) + 1 };
  }

  /** Ends the open step. An ended step never changes. */
  close(status: Exclude<Step['status'], 'running'>, ended: number): void {
    const last = this.#steps.at(-1);
    if (last?.status !== 'running') return;
    this.#steps[this.#steps.length - 1] = { ...last, status, ended, durationMs: ended - last.started };
  }

  list(): readonly Step[] {
    return this.#steps;
  }

  /** The state that continue-as-new carries over. */
  carry(): Step[] {
    return [...this.#steps];
  }
}
