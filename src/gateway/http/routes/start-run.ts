import { createHash } from 'node:crypto';
import { z } from 'zod';
import { PerdureError } from '../../../contracts/perdure-error.js';
import { RunInput } from '../../../contracts/schemas/run.js';
import type { Caller } from '../access/caller.js';
import { HttpError } from '../access/http-error.js';
import { defineRoute } from '../routing/route.js';

/** The input of a run, without what only runs and operators set. */
const StartBody = RunInput.omit({ auth: true, bounds: true, inherits: true, parent: true });

/** The answer to a start. */
const StartedBody = z.object({
  runId: z.string(),
  executionId: z.string(),
  uiUrl: z.string().optional(),
  duplicate: z.boolean(),
});

/** `POST /v1/runs`: starts a run. */
export const startRun = defineRoute({
  method: 'POST',
  path: '/v1/runs',
  right: 'run',
  summary: 'start a run',
  headers: [
    { name: 'Idempotency-Key', meaning: 'Your name for this start: the same key and input is the same run, as long as the run exists' },
  ],
  body: StartBody,
  startsWork: true,
  answers: [
    { status: 201, meaning: 'started', schema: StartedBody },
    { status: 200, meaning: 'the run of this key, with the same input', schema: StartedBody },
    { status: 409, meaning: '`RUN_EXISTS`: the key was used with another input' },
  ],
  async run({ gateway, caller, headers, body }) {
    const tenant = tenantOf(caller, body.tenant);
    const key = headers['idempotency-key'];
    const id = key === undefined ? {} : { id: runIdOf(tenant, key) };
    checkContext(caller, body.context);
    const { runId, executionId, uiUrl, duplicate } = await gateway.door
      .start({ ...body, ...id, ...(tenant === undefined ? {} : { tenant }) })
      .catch(usedKey);
    // the Web UI shows the runs of all tenants
    const shown = caller.tenant === undefined && uiUrl !== undefined ? { uiUrl } : {};
    return { status: duplicate ? 200 : 201, body: { runId, executionId, ...shown, duplicate } };
  },
});

/** The tenant of the token wins. Throws HttpError 403 for another one. */
function tenantOf({ tenant }: Caller, requested: string | undefined): string | undefined {
  if (tenant === undefined || requested === undefined || requested === tenant) return tenant ?? requested;
  throw new HttpError(403, 'FORBIDDEN_TENANT', 'tenant: the token belongs to another one');
}

/** Folders are of this host, and shared by its tenants. */
function checkContext({ tenant }: Caller, context: z.output<typeof StartBody>['context']): void {
  if (context?.host !== undefined) throw new HttpError(403, 'FORBIDDEN_HOST', 'context.host: only the gateway names a host');
  if (tenant === undefined || context?.workspace === undefined) return;
  throw new HttpError(403, 'FORBIDDEN_WORKSPACE', 'context.workspace: the token of a tenant cannot name a folder of this host');
}

/** A run id of tenant and key, so that the run itself is the memory of the key. Throws HttpError 400. */
function runIdOf(tenant: string | undefined, key: string | readonly string[]): string {
  if (typeof key !== 'string' || !/^[A-Za-z0-9._:-]{1,200}$/u.test(key)) {
    throw new HttpError(400, 'BAD_IDEMPOTENCY_KEY', 'Idempotency-Key: use 1–200 characters of A–Z a–z 0–9 . _ : -');
  }
  const hash = createHash('sha256')
    .update(JSON.stringify([tenant ?? null, key]))
    .digest('hex');
  return `key-${hash.slice(0, 32)}`;
}

function usedKey(error: unknown): never {
  if (!(error instanceof PerdureError) || error.code !== 'RUN_EXISTS') throw error;
  throw new HttpError(409, error.code, 'Idempotency-Key: it was used with another input; use another key');
}
