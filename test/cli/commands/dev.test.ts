import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { CliFolder } from '../support/cli.js';
import { commandHere } from '../support/command-here.js';

describe('D4: perdure dev --port', () => {
  let folder: CliFolder;
  beforeEach(async () => {
    folder = await CliFolder.make();
  });
  afterEach(() => folder.remove());

  it('runs the server and its Web UI on ports that stay; another port is refused while it runs', async () => {
    const port = await freePort();
    const dev = folder.start(['dev', '--port', String(port)]);
    await dev.saw('worker running');
    await dev.saw(`Temporal 127.0.0.1:${port}, namespace default`);
    await dev.saw(new RegExp(`Web UI http://127\\.[\\d.]+:${port + 1_000}\\n`, 'u'));
    const { code, stderr } = await folder.run(['dev', '--port', String(port + 1)]);
    expect(code).toBe(4);
    expect(stderr).toMatch(new RegExp(`^SERVER_RUNNING: .* already runs at 127\\.0\\.0\\.1:${port} \\(process \\d+\\), so .*\\n$`, 'u'));
    dev.child.kill('SIGINT');
    const first = await dev.ended;
    expect(first.code).toBe(0);

    const again = folder.start(['dev']);
    await again.saw('worker running');
    again.child.kill('SIGINT');
    expect(addresses((await again.ended).stderr)).toEqual(addresses(first.stderr));
  });

  it.each([
    ['0', 0],
    ['64536', 64_536],
    ['1.5', 1.5],
    ['http', '"http"'],
  ])('%s is no port: one line with its code', async (port, shown) => {
    const { code, stderr } = await commandHere('dev', '--port', port);
    expect([code, stderr]).toEqual([2, `BAD_OPTION: port: integer 1–64535, got ${shown}\n`]);
  });

  it('is refused with the address of another server, which it could not move', async () => {
    const { code, stderr } = await folder.run(['dev', '--port', '7300', '--address', '127.0.0.1:1']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^BAD_OPTION: port: only the embedded server takes a port, but .* names "127\.0\.0\.1:1"\n$/u);
  });
});

/** The lines that `dev` prints about its server. */
function addresses(printed: string): string[] {
  return printed.split('\n').filter((line) => /^(?:Temporal|Web UI) /u.test(line));
}
