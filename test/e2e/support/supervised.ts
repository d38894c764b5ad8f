import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from './command.js';

/** Starts of one process in a row that may fail, each half a second after the other. A process cannot start while its server is away. */
const STARTS_MAX = 120;
const PAUSE_MS = 500;

/** A process that is killed, and started again, as a supervisor of the operating system does it. */
export class Supervised {
  readonly #start: () => Promise<Command>;
  #command: Command | undefined;
  #isKilled = false;
  /** What processes printed that ended without a kill. */
  readonly ownEnds: string[] = [];

  constructor(start: () => Promise<Command>) {
    this.#start = start;
  }

  /** Starts it, again and again until it works. */
  async up(): Promise<void> {
    for (let started = 1; ; started += 1) {
      try {
        this.#command = await this.#start();
        break;
      } catch (error) {
        if (started === STARTS_MAX) throw error;
        await delay(PAUSE_MS);
      }
    }
    void this.#watch(this.#command);
  }

  /** SIGKILL, and a start after some time. */
  async kill(downMs: number): Promise<void> {
    this.#isKilled = true;
    await this.#command?.kill('SIGKILL');
    await delay(downMs);
    this.#isKilled = false;
    await this.up();
  }

  async #watch(command: Command): Promise<void> {
    const { code, stdout, stderr } = await command.ended;
    if (this.#isKilled || this.#command !== command) return;
    this.ownEnds.push(`ended with ${code}: ${stdout}${stderr}`);
  }
}
