import type { TestRun } from '../../support/use-workers.js';

/** All that Temporal keeps of a run, as text: every payload of its history, and every other text in it. */
export async function historyText({ handle }: Pick<TestRun, 'handle'>): Promise<string> {
  const history = await handle.fetchHistory();
  return textsIn(history).join('\n');
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
