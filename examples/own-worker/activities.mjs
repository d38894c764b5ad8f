// The activities of this application. Those of agents come from the plugin.
import { mkdir, writeFile } from 'node:fs/promises';

/** Sample data. Replace it with a request to your own system. */
const ORDERS = new Map([
  [7, { customer: 'Ada', item: 'a desk lamp' }],
  [8, { customer: 'Grace', item: 'two chairs' }],
]);

export async function findOrder(number) {
  return ORDERS.get(number) ?? { customer: 'A customer', item: 'an unknown order' };
}

/** Sends a letter: a file in `outbox`. Temporal may start an activity twice, so a complaint has one letter at most. */
export async function sendLetter({ id, to, text }) {
  await mkdir('outbox', { recursive: true });
  try {
    await writeFile(`outbox/${id}.txt`, `Dear ${to},\n\n${text}\n`, { flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}
