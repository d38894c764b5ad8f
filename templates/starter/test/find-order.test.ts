import { toolContext } from 'perdure/testing';
import { expect, test } from 'vitest';
import { findOrder } from '../tools/find-order.ts';

test('find_order finds an order by its number', async () => {
  expect(await findOrder.execute({ number: 7 }, toolContext())).toBe('a desk lamp, shipped on 3 May');
});

test('find_order fails for an unknown order, with a message for the model', () => {
  expect(() => findOrder.execute({ number: 9 }, toolContext())).toThrow('order 9 does not exist');
});

test('find_order accepts only positive integers', () => {
  expect(findOrder.parameters.safeParse({ number: -1 }).success).toBe(false);
  expect(findOrder.parameters.safeParse({ number: 'seven' }).success).toBe(false);
});
