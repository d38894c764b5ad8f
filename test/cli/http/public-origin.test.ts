import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOrigin } from '../../../src/contracts/text/origin.js';
import { say } from '../../support/agent-worker.js';
import { CliFolder } from '../support/cli.js';
import { rawAsk } from './support/gateway-client.js';
import { TOKEN, useGateways } from './support/use-gateways.js';

const gateways = useGateways();

const JSON_BODY = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

describe('a gateway behind a proxy that ends TLS', () => {
  it('takes requests of its public origin, whatever Host the proxy sends, and still refuses other sites', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { url } = await place.gateway({ publicOrigin: 'https://agents.example.com' });
    const { host } = new URL(url);
    const ask = (headers: Record<string, string>) =>
      rawAsk(url, { path: '/v1/runs', headers: { ...JSON_BODY, ...headers }, body: '{"task":"do it"}' });
    const origin = 'https://agents.example.com';
    for (const name of ['agents.example.com', 'Agents.Example.com:443', host]) {
      expect([name, await ask({ host: name, origin, 'sec-fetch-site': 'same-origin' })]).toMatchObject([name, { status: 201 }]);
      expect([name, await ask({ host: name })]).toMatchObject([name, { status: 201 }]);
    }
    expect(await ask({ host, origin: `http://${host}` }), 'without the proxy').toMatchObject({ status: 201 });
    for (const foreign of ['http://agents.example.com', 'https://agents.example.com:8443', 'https://attacker.example', 'null']) {
      for (const name of ['agents.example.com', host]) {
        expect([foreign, name, await ask({ host: name, origin: foreign })]).toEqual([foreign, name, { status: 403, code: 'BAD_ORIGIN' }]);
      }
    }
    expect(await ask({ host, origin, 'sec-fetch-site': 'cross-site' })).toEqual({ status: 403, code: 'BAD_ORIGIN' });
    for (const name of ['attacker.example', 'agents.example.com.attacker.example', 'agents.example.com:8443', 'x@agents.example.com']) {
      expect([name, await ask({ host: name })]).toEqual([name, { status: 403, code: 'BAD_HOST' }]);
    }
  });

  it.each([
    ['https://agents.example.com', 'https://agents.example.com'],
    ['HTTPS://Agents.Example.com:443/', 'https://agents.example.com'],
    ['http://[::1]:8787', 'http://[::1]:8787'],
    ['https://agents.example.com/path', undefined],
    ['https://user@agents.example.com', undefined],
    ['https://*.example.com', undefined],
    ['https://agents.example.com:99999', undefined],
    ['agents.example.com', undefined],
    ['ftp://agents.example.com', undefined],
    ['', undefined],
  ])('reads the origin %s', (text, origin) => {
    expect(readOrigin(text)).toBe(origin);
  });

  describe('on the command line', () => {
    let folder: CliFolder;
    beforeAll(async () => {
      folder = await CliFolder.make();
    });
    afterAll(async () => {
      await folder.remove();
    });

    it('refuses what is no origin with one line', async () => {
      expect(await folder.run(['serve', '--public-origin', 'agents.example.com/x'])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          /^BAD_OPTION: public-origin: an origin such as https:\/\/agents\.example\.com, got "agents.example.com\/x"\n$/u,
        ),
      });
    });
  });
});
