import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** The fields of `/proc/self/stat` behind the name of the program: number 50 of the whole line is the address of the environment. */
const FIRST_FIELD = 3;
const ADDRESS_FIELD = 50;

/**
 * Removes the values of variables from the memory that `/proc/PID/environ` shows: what the process was started with, which no change of
 * `process.env` reaches. The variables of `process.env` keep their values. Returns false where that memory cannot be written: on systems
 * other than Linux, in a thread that is not the main one, and for a process that may not trace itself. Never throws.
 */
export function eraseInitialValues(isErased: (name: string) => boolean): boolean {
  if (process.platform !== 'linux' || !isMainThread) return false;
  try {
    const block = readFileSync('/proc/self/environ');
    const values = valuesIn(block).filter(({ name, value }) => value.length > 0 && isErased(name) && move(name, value));
    if (values.length > 0) overwrite(values, addressOfBlock());
    return true;
  } catch {
    // no /proc, or no right to it
    return false;
  }
}

/** A value in the block: its bytes, and where they begin. */
interface InitialValue {
  readonly name: string;
  readonly value: Buffer;
  readonly offset: number;
}

function valuesIn(block: Buffer): InitialValue[] {
  const values: InitialValue[] = [];
  for (let start = 0; start < block.length; ) {
    const end = block.indexOf(0, start);
    const entry = block.subarray(start, end === -1 ? block.length : end);
    const equals = entry.indexOf('=');
    if (equals > 0) {
      values.push({ name: entry.toString('utf8', 0, equals), value: entry.subarray(equals + 1), offset: start + equals + 1 });
    }
    start += entry.length + 1;
  }
  return values;
}

/**
 * Moves a variable to other memory, by setting it anew. False for one that is not a text, whose bytes would change. One that was deleted
 * or set before is elsewhere already.
 */
function move(name: string, value: Buffer): boolean {
  const current = process.env[name];
  if (current === undefined) return true;
  const text = value.toString('utf8');
  if (!Buffer.from(text).equals(value)) return false;
  process.env[name] = current;
  return true;
}

function addressOfBlock(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  // the name of the program may contain spaces and parentheses
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const address = Number(fields[ADDRESS_FIELD - FIRST_FIELD]);
  if (!Number.isSafeInteger(address) || address <= 0) throw new Error('the address of the environment is unknown');
  return address;
}

function overwrite(values: readonly InitialValue[], address: number): void {
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    for (const { value, offset } of values) writeSync(memory, Buffer.alloc(value.length), 0, value.length, address + offset);
  } finally {
    closeSync(memory);
  }
}
