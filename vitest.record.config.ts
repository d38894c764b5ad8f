import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/** `npm run record-histories`: writes the saved histories of a release anew. Only new ones are committed; old ones must go on replaying. */
export default defineConfig({ test: { ...base.test, include: ['test/histories/*.record.ts'] } });
