/**
 * The origin of an address such as `https://agents.example.com`: in lower case, and without the default port. Undefined for anything else, also
 * for an address with a path. Never throws.
 */
export function readOrigin(text: string): string | undefined {
  const {
    scheme = '',
    host = '',
    port,
  } = /^(?<scheme>https?):\/\/(?<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::(?<port>\d{1,5}))?\/?$/u.exec(text.toLowerCase())
    ?.groups ?? {};
  if (scheme === '' || Number(port ?? 0) > PORT_MAX) return undefined;
  const isDefault = port === undefined || Number(port) === DEFAULT_PORTS[scheme];
  return `${scheme}://${host}${isDefault ? '' : `:${Number(port)}`}`;
}

const PORT_MAX = 65_535;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };
