import { commandEnvironment } from '../command-sandbox.js';
import type { CommandNetwork } from './sandbox.js';

/** Where the proxy is on the loopback of a command. */
export const BRIDGE_PORT = 3_128;

/**
 * The program that carries connections from the command's own loopback to the socket of the proxy. Most programs know proxies by address
 * only. Argument: the socket's path. Prints a line when it listens. Contains no single quotes: it is an argument in a shell script.
 */
export const BRIDGE = `
const net = require("node:net");
const carry = (from) => {
  const to = net.connect(process.argv[1]);
  from.pipe(to).pipe(from);
  from.on("error", () => to.destroy());
  to.on("error", () => from.destroy());
};
net.createServer(carry).listen(${BRIDGE_PORT}, "127.0.0.1", () => console.log("ready"));
`;

/** The program for a network, which may name another port. */
export function bridgeTo(network: CommandNetwork): string {
  return network.kind === 'proxy' && network.port !== undefined ? BRIDGE.replace(`${BRIDGE_PORT}`, `${network.port}`) : BRIDGE;
}

const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'] as const;

/** Where a command's own programs are, which no proxy reaches. */
const OWN = 'localhost,127.0.0.1,::1';

/** The environment of a command in a sandbox: its temporary folder is `/tmp`, and programs find the proxy, if there is one. */
export function sandboxEnvironment(network: CommandNetwork): Record<string, string> {
  const { TMPDIR: _, ...environment } = commandEnvironment(process.env);
  return { ...environment, ...proxyVariables(network) };
}

/** The variables with which programs find the proxy on the loopback of the command. Empty without a proxy. */
export function proxyVariables(network: CommandNetwork): Record<string, string> {
  if (network.kind !== 'proxy') return {};
  const url = `http://127.0.0.1:${network.port ?? BRIDGE_PORT}`;
  // Node's own fetch reads the variables with NODE_USE_ENV_PROXY
  return { ...Object.fromEntries(PROXY_VARIABLES.map((name) => [name, url])), NO_PROXY: OWN, no_proxy: OWN, NODE_USE_ENV_PROXY: '1' };
}
