import { setTimeout as delay } from 'node:timers/promises';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import { CallsInWork } from '../../calls-in-work.js';
import { HttpError } from '../access/http-error.js';
import { Feeds } from '../events/feeds.js';
import type { GatewayDoor } from './gateway-door.js';
import { Owners } from './owners.js';

/** The state of one gateway: nothing that a restart could lose. */
export class Gateway {
  readonly door: GatewayDoor;
  readonly owners: Owners;
  readonly feeds: Feeds;
  readonly inWork = new CallsInWork();
  #isDraining = false;
  #isReady = false;
  #server: { readonly at: number; readonly answers: Promise<boolean> } | undefined;

  constructor(door: GatewayDoor) {
    this.door = door;
    this.owners = new Owners(door.client);
    this.feeds = new Feeds(door.streams);
    void this.#noteReady();
  }

  async #noteReady(): Promise<void> {
    this.#isReady = await this.door.ready.then(yes, no);
  }

  /** True once `drain` was called. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** True if requests are answered now: a worker was there, the server answers, and the gateway does not end. */
  async isReady(): Promise<boolean> {
    if (this.#isDraining || !this.#isReady) return false;
    const now = Date.now();
    if (!this.#server || now - this.#server.at > HTTP_LIMITS.readyCacheMs) {
      const checked = this.door.client.checkServer();
      this.#server = { at: now, answers: checked.then(yes, no) };
    }
    return await this.#server.answers;
  }

  /** Waits for the first worker. Throws HttpError 503: a query that is sent before one answers would wait for a dead one. */
  async untilReady(): Promise<void> {
    if (this.#isReady) return;
    const late = new AbortController();
    const waited = delay(HTTP_LIMITS.startingMs, true, { signal: late.signal }).catch(yes);
    const isLate = await Promise.race([this.door.ready.then(no, yes), waited]);
    late.abort();
    if (isLate) throw new HttpError(503, 'STARTING', 'no worker answers yet; try again', { 'retry-after': '1' });
  }

  /** Begins the end: new starts are refused, `/readyz` is 503, and all streams end. Resolves when the requests in work were answered. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.feeds.close();
    await this.inWork.ended(HTTP_LIMITS.drainMs);
  }
}

function yes(): boolean {
  return true;
}

function no(): boolean {
  return false;
}
