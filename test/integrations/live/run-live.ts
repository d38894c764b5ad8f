import { startVitest } from 'vitest/node';
import { keyedProviders } from './keyed-providers.js';

/** `npm run test:live`: says which providers are asked and which not for want of a key, then asks them. Without any key it ends well. */
const { keyed, missing } = keyedProviders(process.env);
if (keyed.length === 0) {
  console.info(`no real endpoint was asked: set one of ${missing.join(', ')}`);
} else {
  const names = keyed.map(({ name, model }) => `${name} (${model})`);
  console.info(`asking ${names.join(', ')}${missing.length > 0 ? `; without ${missing.join(', ')}` : ''}`);
  const vitest = await startVitest('test', [], { config: 'vitest.live.config.ts', run: true });
  await vitest.close();
}
