import assert from 'node:assert/strict';
import { test } from 'node:test';
import { price } from './price.mjs';

test('one piece has its full price', () => assert.equal(price(1, 100), 100));

test('eleven pieces have the discount', () => assert.equal(price(11, 100), 935));
