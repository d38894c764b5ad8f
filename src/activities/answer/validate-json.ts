import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { OutputUnit } from '@cfworker/json-schema';
import { OUTPUT_SCHEMA_LIMITS } from '../../contracts/constants/limits.js';
import { draftOf } from '../../contracts/json/schema-draft.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import { rejectedBy } from '../../providers/http/abortable.js';
import type { OutputSchema } from './output-schema.js';

/** The maximum of errors that are read from the library, which may report thousands. */
const ERRORS_READ = 200;

/**
 * The program of the thread. It is JavaScript in a string, because a thread needs a file that Node can load, and the sources have different
 * names when they are built, bundled or tested.
 */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { library, schema, draft, value, errorsMax } = workerData;
const { Validator } = require(library);
const { valid, errors } = new Validator(schema, draft, false).validate(value);
parentPort.postMessage(valid ? [] : errors.slice(0, errorsMax));
`;

/**
 * The problems of a value under a schema, each with its path in the value; empty when it matches. The schema is interpreted, never compiled
 * to code, and nothing is fetched. The check runs in its own thread, so that it cannot block the worker. A check that takes over a second
 * (a catastrophic pattern), uses too much memory, or is aborted by the signal is a problem too. Never throws.
 */
export async function checkJson(value: JsonValue, schema: OutputSchema, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return causes(await errorsIn(value, schema, signal)).map(describe);
  } catch (error) {
    return [`the answer could not be checked against the schema: ${error instanceof Error ? error.message : String(error)}`];
  }
}

async function errorsIn(value: JsonValue, schema: OutputSchema, signal: AbortSignal): Promise<readonly OutputUnit[]> {
  const library = createRequire(import.meta.url).resolve('@cfworker/json-schema');
  const thread = new Worker(PROGRAM, {
    eval: true,
    env: {},
    workerData: { library, schema, draft: draftOf(schema) ?? '2020-12', value, errorsMax: ERRORS_READ },
    resourceLimits: { maxOldGenerationSizeMb: OUTPUT_SCHEMA_LIMITS.checkMemoryMiBMax },
  });
  try {
    return await Promise.race([answerOf(thread), rejectedBy(signal)]);
  } finally {
    await thread.terminate();
  }
}

/**
 * The time limit starts with the thread's code, because a busy machine may take long to start a thread. An answer that came while this
 * process stalled is in time: it is read before the limit counts.
 */
function answerOf(thread: Worker): Promise<readonly OutputUnit[]> {
  return new Promise((resolve, reject) => {
    const tooLong = (): void => reject(new Error(`it took longer than ${OUTPUT_SCHEMA_LIMITS.checkMsMax} ms`));
    thread.once('online', () => setTimeout(setImmediate, OUTPUT_SCHEMA_LIMITS.checkMsMax, tooLong).unref());
    thread.once('message', resolve);
    thread.once('error', reject);
  });
}

/** The library also reports every level above an error; only the lowest levels are useful. */
function causes(errors: readonly OutputUnit[]): OutputUnit[] {
  const isParent = (error: OutputUnit): boolean => errors.some((other) => other.keywordLocation.startsWith(`${error.keywordLocation}/`));
  return errors.filter((error) => !isParent(error)).slice(0, OUTPUT_SCHEMA_LIMITS.problemsShown);
}

function describe({ instanceLocation, error }: OutputUnit): string {
  const place = instanceLocation.replace(/^#\/?/u, '/');
  return `${place === '/' ? 'the answer' : place}: ${error.slice(0, 300)}`;
}
