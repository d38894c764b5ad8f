import { z } from 'zod';
import { defineTool } from '../../src/define/define-tool.js';
import { type AgentWorker, call, say, startAgentWorker } from './agent-worker.js';

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys.',
  parameters: z.strictObject({ to: z.string() }),
  execute: ({ to }) => `deployed to ${to}`,
});

/** Starts a worker whose runs wait for a person, who says whether they may deploy to production, and are then done. */
export function startDeployWorker(): Promise<AgentWorker> {
  return startAgentWorker({
    tools: [deploy],
    model: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? say('done') : call(['deploy', { to: 'production' }])),
    policy: { gate: { profile: 'ask-before-writing' } },
  });
}
