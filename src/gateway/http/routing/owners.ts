import type { AgentClient } from '../../../client/agent-client.js';
import type { RunHandle } from '../../../client/run-handle.js';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import type { Caller } from '../access/caller.js';
import { noSuchRun } from '../access/http-error.js';

/** No tenant. */
const NOBODY = '';

/** Longest id of a run with its sub-agents, as the server stores it. */
const ID_CHARS_MAX = 1_000;

/** Whose each run is. A run keeps its tenant, so what was asked once is remembered. */
export class Owners {
  readonly #client: AgentClient;
  readonly #tenants = new Map<string, string>();

  constructor(client: AgentClient) {
    this.#client = client;
  }

  /** The run, if the caller may see it. Throws the same HttpError 404 for a run that does not exist and for one of another tenant. */
  async runOf({ tenant }: Pick<Caller, 'tenant'>, id: string): Promise<RunHandle> {
    if (!/^[\w.:/-]+$/u.test(id) || id.length > ID_CHARS_MAX) throw noSuchRun(id);
    const known = this.#tenants.get(id);
    // a run that another client started gets its tenant when a worker prepares it
    const owner = known === undefined || (tenant !== undefined && known !== tenant) ? await this.#ask(id) : known;
    if (tenant !== undefined && owner !== tenant) throw noSuchRun(id);
    return this.#client.get(id);
  }

  async #ask(id: string): Promise<string> {
    try {
      const { tenant = NOBODY } = await this.#client.get(id).describe();
      if (this.#tenants.size >= HTTP_LIMITS.ownersMax) this.#tenants.clear();
      this.#tenants.set(id, tenant);
      return tenant;
    } catch (error) {
      throw error instanceof PerdureError && error.code === 'RUN_NOT_FOUND' ? noSuchRun(id) : error;
    }
  }
}
