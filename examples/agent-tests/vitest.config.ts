import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { name: 'agent-tests', include: ['test/*.test.ts'] } });
