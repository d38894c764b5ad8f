import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';

/** The highest port of TCP. */
const PORT_MAX = 65_535;

/**
 * The value of `--port`, whose parser leaves what is no number as text. `portMax` is lower where a second port lies above it. Throws
 * `BAD_OPTION` (exit 2).
 */
export function checkPort(port: number | string, portMax: number = PORT_MAX): number {
  if (typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= portMax) return port;
  throw new PerdureError('BAD_OPTION', `port: integer 1–${portMax}, got ${echoValue(port)}`, 2);
}

/** Parses a number of the command line. Other text is returned unchanged, so that the error of the option can quote it. Never throws. */
export function parseNumber(text: string): number | string {
  return /^-?\d+(?:\.\d+)?(?:e\d+)?$/iu.test(text) ? Number(text) : text;
}
