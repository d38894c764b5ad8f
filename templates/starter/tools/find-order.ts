import { defineTool } from 'perdure';
import { z } from 'zod';

/** Sample data. Replace it with a request to your own system. */
const ORDERS = new Map([
  [7, 'a desk lamp, shipped on 3 May'],
  [8, 'two chairs, in preparation'],
]);

/** Finds an order by its number. */
export const findOrder = defineTool({
  name: 'find_order',
  description: 'Find an order by its number: what was ordered, and its status.',
  parameters: z.strictObject({ number: z.number().int().positive() }),
  // a read changes nothing, so Perdure repeats it after a crash
  effect: 'read',
  execute: ({ number }) => {
    const order = ORDERS.get(number);
    // the model sees the message
    if (order === undefined) throw new Error(`order ${number} does not exist`);
    return order;
  },
});
