import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from './run-input.js';

/** Checks a Temporal address: `host:port`, IPv6 in brackets. Throws `TEMPORAL_ADDRESS` (exit 2) for anything else, such as a URL. */
export function checkAddress(address: string): string {
  const match = /^(?<host>\[[0-9a-fA-F:.%]+\]|[A-Za-z0-9._-]+):(?<port>\d{1,5})$/u.exec(address);
  const port = Number(match?.groups?.port);
  if (match && port >= 1 && port <= 65_535) return address;
  throw new PerdureError('TEMPORAL_ADDRESS', `use host:port, such as 127.0.0.1:7233 or [::1]:7233, got ${echoValue(address)}`, 2);
}
