import { defineTool } from 'perdure';
import { z } from 'zod';

/** Payments by their idempotency key. Sample data: replace it with requests to your bank, which takes such a key too. */
export const payments = new Map<string, number>();

/** Pays money back. A person approves what is above 50 euros. */
export const refund = defineTool({
  name: 'refund',
  description: 'Refund an order.',
  parameters: z.strictObject({ order: z.number().int().positive(), cents: z.number().int().positive() }),
  // the bank pays once for each key, so Perdure may start the call again after a crash
  effect: 'idempotent',
  approval: ({ cents }) => cents > 5_000,
  execute: ({ order, cents }, { idempotencyKey, signal }) => {
    signal.throwIfAborted();
    payments.set(idempotencyKey, cents);
    return `refunded ${cents / 100} euros for order ${order}`;
  },
});
