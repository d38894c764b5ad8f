import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { refund, words } from '../../cli/http/support/chat-agent.js';
import { TOKEN, useGateways } from '../../cli/http/support/use-gateways.js';
import { call } from '../../support/agent-worker.js';
import { namedProgram } from '../../support/local-process.js';
import { until } from '../../support/use-workers.js';

const gateways = useGateways();

/** A fixed seed: a failure is the same on every machine. */
const SEED = 1;
const CHECKS = ['not_a_server_error', 'content_type_conformance', 'response_schema_conformance', 'status_code_conformance'];

/** What Schemathesis is told beside the address. */
interface Hunt {
  readonly phases: string;
  readonly examples: number;
  /** Values of parameters, such as `path.id`. @default generated ones */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Paths that are left out. */
  readonly without?: string;
}

describe('the OpenAPI document of the gateway', { timeout: 300_000 }, () => {
  it('B16: no generated request, right or wrong, is answered with 5xx or in another form than the document says', async () => {
    const place = await gateways.place({ model: (request) => words(request, 'done') });
    const { url } = await place.gateway({ requestsPerMinute: REQUESTS_MAX });
    expect(await casesOf(url, { phases: 'fuzzing', examples: 8 })).toBeGreaterThan(100);
  });

  it('B16: nor is any request about a run that waits for approval, and about a session', async () => {
    const place = await gateways.place({
      tools: [refund],
      model: (request, nth) => (nth === 1 ? call(['refund', { order: 1 }]) : words(request, 'done')),
    });
    const { url, client } = await place.gateway({ requestsPerMinute: REQUESTS_MAX });
    const id = await client.start();
    const approvals = async (): Promise<{ callId: string }[]> =>
      (await client.ask(`/v1/runs/${id}/approvals`)).body as unknown as { callId: string }[];
    await until(async () => (await approvals()).length === 1, 'the approval');
    const [{ callId } = { callId: '' }] = await approvals();
    const parameters = { 'path.id': id, 'path.callId': callId, 'path.key': 's1' };
    // the stream of a session has no end
    expect(
      await casesOf(url, { phases: 'coverage,fuzzing', examples: 5, parameters, without: '^/v1/sessions/.*/events$' }),
    ).toBeGreaterThan(500);
  });
});

const REQUESTS_MAX = 1_000_000;

/** Hunts for answers that no client expects. Returns the number of requests; throws with the report if there are any. */
async function casesOf(url: string, { phases, examples, parameters = {}, without }: Hunt): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-schemathesis-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const lines = Object.entries(parameters).map(([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`);
  await writeFile(join(folder, 'schemathesis.toml'), ['[parameters]', ...lines, ''].join('\n'));
  const program = namedProgram('PERDURE_TEST_SCHEMATHESIS', 'the program schemathesis', 'pip install schemathesis==4.32.5');
  const checks = ['--header', `Authorization: Bearer ${TOKEN}`, '--checks', CHECKS.join(','), '--continue-on-failure'];
  const cases = ['--seed', String(SEED), '--max-examples', String(examples), '--phases', phases, '--workers', '1'];
  const others = ['--generation-database', 'none', '--request-timeout', '30', '--no-color', '--warnings', 'off'];
  const left = without === undefined ? [] : ['--exclude-path-regex', without];
  const args = ['run', `${url}/openapi.json`, ...checks, ...cases, ...others, ...left];
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  let report = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    report += text;
  });
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(report.slice(-REPORT_CHARS_MAX));
  return Number(/(?<count>\d+) generated, \d+ passed/u.exec(report)?.groups?.['count'] ?? 0);
}

const REPORT_CHARS_MAX = 8_000;
