import { Agent, type Response, fetch as undiciFetch } from 'undici';
import { FAILOVER_LIMITS } from '../../contracts/constants/limits.js';
import { objectOf } from '../contract/json-object.js';
import { ModelError } from '../contract/model-error.js';
import { connectionError } from '../errors/classify-error.js';
import { httpFormat } from '../registry.js';
import type { ServerAccess } from './provider-access.js';

/** Several times the longest list there is, of a router with hundreds of models. */
const LIST_BYTES_MAX = 16 * 1_024 * 1_024;

/**
 * The ids of the models that a server says it has, from one `GET …/models` with its key. Redirects are refused, the answer is bounded in
 * time and size. Throws a ModelError that names the host; no part of the key or of the answer is in it.
 */
export async function listModels(access: ServerAccess, signal?: AbortSignal): Promise<readonly string[]> {
  const timeout = AbortSignal.timeout(FAILOVER_LIMITS.modelListTimeoutMs);
  // a dispatcher of its own leaves no connection open
  const dispatcher = new Agent({ connectTimeout: FAILOVER_LIMITS.modelListTimeoutMs });
  const url = listUrl(access);
  try {
    const response = await undiciFetch(url, {
      headers: { accept: 'application/json', 'user-agent': 'perdure', ...access.quirks?.headers, ...keyHeaders(access) },
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      dispatcher,
    });
    return idsIn(await readList(response, url), access, url);
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) {
      throw new ModelError('Model.Timeout', `${url.host} did not list its models within ${FAILOVER_LIMITS.modelListTimeoutMs / 1_000} s`);
    }
    throw error instanceof ModelError ? error : unreachable(error, url);
  } finally {
    await dispatcher.destroy();
  }
}

/** `127.0.0.1:11434 does not answer: connect ECONNREFUSED`: the host is named once. */
function unreachable(error: unknown, { host }: URL): ModelError {
  const reason = connectionError(error).message.replace('fetch failed: ', '').replace(` ${host}`, '');
  return new ModelError('Model.Unreachable', `${host} is unreachable: ${reason}`);
}

function listUrl({ api, baseUrl, quirks }: ServerAccess): URL {
  const base = baseUrl.replace(/\/+$/u, '');
  const url = new URL(`${base}${httpFormat(api).modelList.path}`);
  for (const [name, value] of Object.entries(quirks?.query ?? {})) url.searchParams.set(name, value);
  return url;
}

function keyHeaders({ api, apiKey, credentials, quirks }: ServerAccess): Record<string, string> {
  const { modelList, keyHeader } = httpFormat(api);
  if (credentials.length === 0) return { ...modelList.headers };
  const header = quirks?.keyHeader ?? keyHeader;
  return { ...modelList.headers, [header]: header === 'authorization' ? `Bearer ${apiKey}` : apiKey };
}

async function readList(response: Response, { host }: URL): Promise<string> {
  const { status, body } = response;
  if (status !== 200 || !body) {
    await body?.cancel();
    const type = status === 401 || status === 403 ? 'Model.Auth' : 'Model.BadResponse';
    const outcome = status >= 300 && status < 400 ? 'redirected the request, and redirects are refused' : `answered with status ${status}`;
    throw new ModelError(type, `${host} ${outcome}`, { status });
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > LIST_BYTES_MAX)
      throw new ModelError('Model.BadResponse', `${host} sent a list of models of more than ${LIST_BYTES_MAX / (1_024 * 1_024)} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function idsIn(text: string, { api }: ServerAccess, { host }: URL): readonly string[] {
  const ids = httpFormat(api).modelList.ids(objectOf(text));
  if (!ids) throw new ModelError('Model.BadResponse', `${host} returned no list of models`);
  return ids;
}
