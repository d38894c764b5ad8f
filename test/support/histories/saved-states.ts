import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { z } from 'zod';
import { AGENT_RUN } from '../../../src/contracts/handlers.js';
import { RunInput } from '../../../src/contracts/schemas/run.js';

/** A state that a saved history began with, as the build that wrote it left it. */
export interface SavedState {
  readonly file: string;
  readonly input: RunInput;
  readonly state: Record<string, unknown>;
}

const FOLDER = fileURLToPath(new URL('../../workflows/histories/', import.meta.url));

/** All of them, in the order of their files' names. */
export async function readSavedStates(): Promise<SavedState[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.json')).toSorted();
  const states = await Promise.all(files.map(readSavedState));
  return states.filter((state) => state !== undefined);
}

async function readSavedState(file: string): Promise<SavedState | undefined> {
  const history = historyFromJSON(JSON.parse(await readFile(`${FOLDER}${file}`, 'utf8')));
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  // sessions and ledgers carry states of their own
  if (started?.workflowType?.name !== AGENT_RUN) return undefined;
  const payloads = started.input?.payloads ?? [];
  const [input, state] = payloads.map((payload) => defaultPayloadConverter.fromPayload<unknown>(payload));
  return state === undefined ? undefined : { file, input: RunInput.parse(input), state: z.record(z.string(), z.unknown()).parse(state) };
}
