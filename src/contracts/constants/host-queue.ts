/** The names of hosts that a run may ask for. */
export const HOST = /^[A-Za-z0-9._-]{1,253}$/u;

/** The task queue of one host, where workspace tools and child processes run if several hosts share a queue. */
export function hostQueueOf(host: string): string {
  return `perdure@${host}`;
}

/** The host that an input names for its workspace. The input may be from any client and not validated yet; never throws. */
export function namedHost(input: unknown): string | undefined {
  const host = fieldOf(fieldOf(input, 'context'), 'host');
  return typeof host === 'string' && HOST.test(host) ? host : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}
