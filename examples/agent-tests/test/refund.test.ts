import { toolContext } from 'perdure/testing';
import { expect, test } from 'vitest';
import { payments, refund } from '../tools/refund.ts';

test('a call that is started twice is paid once', async () => {
  const context = toolContext({ idempotencyKey: 'c1' });
  await refund.execute({ order: 7, cents: 4_900 }, context);
  expect(await refund.execute({ order: 7, cents: 4_900 }, context)).toBe('refunded 49 euros for order 7');
  expect([...payments]).toEqual([['c1', 4_900]]);
});

test('a cancelled call pays nothing', () => {
  const context = toolContext({ idempotencyKey: 'c2' });
  context.abort(new Error('cancelled'));
  expect(() => refund.execute({ order: 7, cents: 4_900 }, context)).toThrow('cancelled');
  expect(payments.has('c2')).toBe(false);
});

test('the model has to give whole cents', () => {
  expect(refund.parameters.safeParse({ order: 7, cents: 49.5 }).success).toBe(false);
});
