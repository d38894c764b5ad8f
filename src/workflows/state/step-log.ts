import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { Usage } from '../../contracts/schemas/model.js';
import type { Step } from '../../contracts/schemas/run.js';

/** How each turn went, oldest first, bounded in number. Lives in workflow state only. */
export class StepLog {
  readonly #steps: Step[];

  constructor(carried: readonly Step[] = []) {
    this.#steps = [...carried];
  }

  /** Opens a step; one that is still open (its turn was opened anew in a fresh history) is opened again. */
  open(step: Pick<Step, 'agent' | 'index' | 'started' | 'group'>): void {
    const last = this.#steps.at(-1);
    if (last?.index === step.index && last.status === 'running') this.#steps.pop();
    this.#steps.push({ ...step, status: 'running' });
    if (this.#steps.length > PAYLOAD_LIMITS.stepsMax) this.#steps.shift();
  }

  /** Adds what became known of the open step. */
  note(facts: { readonly usage?: Usage; readonly toolSignature?: string }): void {
    const last = this.#steps.at(-1);
    if (last?.status === 'running') this.#steps[this.#steps.length - 1] = { ...last, ...facts };
  }

  /** Ends the open step. One that ended never changes again. */
  close(status: Exclude<Step['status'], 'running'>, ended: number): void {
    const last = this.#steps.at(-1);
    if (last?.status !== 'running') return;
    this.#steps[this.#steps.length - 1] = { ...last, status, ended, durationMs: ended - last.started };
  }

  list(): readonly Step[] {
    return this.#steps;
  }

  /** What continue-as-new carries. */
  carry(): Step[] {
    return [...this.#steps];
  }
}
