import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { DevServerRecord } from './record.js';

const RETENTION_SECONDS = 90 * 24 * 60 * 60;
const ANSWER_WAIT_MS = 5_000;

/** A new `Host` for the HTTP API of a server. No web page can send it, because its name is secret and leads nowhere. */
export function newHttpHost(): string {
  return `${randomUUID()}.invalid`;
}

/**
 * The dynamic config that closes the HTTP API to every other `Host`. Otherwise any web page that is open in a browser of this machine
 * could start workflows with a simple POST.
 */
export function allowedHosts(httpHost: string): string {
  return `frontend.httpAllowedHosts=${JSON.stringify([httpHost])}`;
}

/**
 * Sets the retention of closed runs to 90 days through the HTTP API. The dev server deletes them after one day and has no flag for that.
 * Says so when it fails; never rejects.
 */
export async function keepClosedRuns({ httpPort, httpHost, namespace }: DevServerRecord, say: (line: string) => void): Promise<void> {
  const body = JSON.stringify({ config: { workflowExecutionRetentionTtl: `${RETENTION_SECONDS}s` } });
  try {
    const sent = request({
      host: '127.0.0.1',
      port: httpPort,
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/update`,
      headers: { 'content-type': 'application/json', ...(httpHost === undefined ? {} : { host: httpHost }) },
      signal: AbortSignal.timeout(ANSWER_WAIT_MS),
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode}`);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    say(`closed runs are kept for one day only, because the retention could not be set (${problem})`);
  }
}
