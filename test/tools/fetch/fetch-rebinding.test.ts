import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { tempWorkspace } from '../support/temp-workspace.js';

const NAME = 'rebinding.example';

/**
 * Requests a name again and again while its address changes between a public one and the loopback, and prints how often the server of the
 * loopback was asked, and with which codes the requests ended. The network is empty, so that nothing answers at the public address.
 */
const SCRIPT = `
  import { writeFileSync } from 'node:fs';
  import { createServer } from 'node:http';
  import { createFetchUrl } from '${new URL('../../../dist/tools/fetch/fetch-url.js', import.meta.url).href}';
  const [hosts, ...lines] = process.argv.slice(1);
  let asked = 0;
  const server = createServer((_, response) => { asked += 1; response.end('secret'); }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  let turn = 0;
  let stopped = false;
  const change = () => { writeFileSync(hosts, lines[turn++ % lines.length] + '\\n'); if (!stopped) setTimeout(change, turn % 3); };
  change();
  const codes = new Set();
  const context = { signal: new AbortController().signal };
  for (let at = 0; at < 200; at += 1) {
    const url = 'http://${NAME}:' + server.address().port + '/';
    await createFetchUrl({}).execute({ url }, context).then(() => codes.add('READ'), ({ message }) => codes.add(message.split(':')[0]));
  }
  stopped = true;
  server.close();
  console.log(JSON.stringify({ asked, codes: [...codes].sort() }));
`;

/** Runs the script where these lines are, in turn, the only names. */
async function requestWhileChanging(...lines: readonly string[]): Promise<unknown> {
  const workspace = await tempWorkspace();
  await workspace.put('hosts', '');
  const hosts = join(workspace.root, 'hosts');
  const prepare = 'ip link set lo up && mount --bind "$1" /etc/hosts && shift && exec "$@"';
  const node = [process.execPath, '--input-type=module', '-e', SCRIPT, hosts, ...lines];
  const { stdout } = await promisify(execFile)('unshare', ['-rmn', 'sh', '-c', prepare, 'sh', hosts, ...node]);
  return JSON.parse(stdout);
}

describe('a name that leads to a public address at one time and to this machine at another', () => {
  test('a name server that changes its answer leads no request to this machine', { timeout: 60_000 }, async () => {
    const seen = await requestWhileChanging(`93.184.216.34 ${NAME}`, `127.0.0.1 ${NAME}`);
    // both answers were given
    expect(seen).toEqual({ asked: 0, codes: expect.arrayContaining(['PRIVATE_ADDRESS', 'UNREACHABLE']) });
  });

  test('a name with both addresses is refused', { timeout: 60_000 }, async () => {
    expect(await requestWhileChanging(`93.184.216.34 ${NAME}\n127.0.0.1 ${NAME}`)).toMatchObject({
      asked: 0,
      codes: expect.arrayContaining(['PRIVATE_ADDRESS']),
    });
  });
});
