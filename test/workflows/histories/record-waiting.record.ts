import { describe, it } from 'vitest';
import type { Config } from '../../../src/define/define-config.js';
import { call, say } from '../../support/agent-worker.js';
import { until, useWorkers } from '../../support/use-workers.js';
import { answer, pendingQuestions } from '../tools/support/pending-questions.js';
import { historySaver } from './save-history.js';

const { fill, save } = historySaver('0.6');

const config: Config = {
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: { waiter: { description: 'Waits.', prompt: 'wait', tools: ['ask_user', 'sleep'], askExpireMs: 60_000 } },
};

describe('record runs that wait for people and for time', () => {
  const { worker, start } = useWorkers();

  it('two questions, of which one is answered after the run continued as new', async () => {
    const asked = call(['ask_user', { question: 'Which region?', choices: ['eu', 'us'] }], ['ask_user', { question: 'Which name?' }]);
    const on = await worker({ identity: 'recorder', config, model: (_, n) => (n === 1 ? asked : say('ok')) });
    const run = await start(on, { agent: 'waiter', deadlineMs: 600_000, bounds: { continueAsNewSignals: 10 } });
    const [one, two] = await pendingQuestions(run, 2);
    await answer(run, { callId: two?.callId, answer: 'Ada' });
    await fill('question-1', on, run);
    await answer(run, { callId: one?.callId, answer: '2' });
    await save('question-2', run);
  });

  it('a question that expires, and one that a message ends', async () => {
    const on = await worker({
      identity: 'recorder',
      config: { ...config, agents: { waiter: { description: 'Waits.', prompt: 'wait', tools: ['ask_user'], askExpireMs: 1_000 } } },
      model: (_, n) => (n <= 2 ? call(['ask_user', { question: `Number ${n}?` }]) : say('ok')),
    });
    const run = await start(on, { agent: 'waiter' });
    const [first] = await pendingQuestions(run, 1);
    await until(async () => (await pendingQuestions(run, 1))[0]?.callId !== first?.callId, 'the second question');
    await run.handle.signal('steer', { id: 'm1', text: 'never mind', mode: 'preempt' });
    await save('question-ended', run);
  });

  it('a sleep that continues in a fresh history, and one that a message ends', async () => {
    const on = await worker({
      identity: 'recorder',
      config,
      model: (_, n) => (n <= 2 ? call(['sleep', { seconds: n === 1 ? 4 : 3_600 }]) : say('ok')),
    });
    const run = await start(on, { agent: 'waiter', deadlineMs: 600_000, bounds: { continueAsNewSignals: 10 } });
    await until(async () => (await run.progress()).waitingFor !== undefined, 'the sleep');
    await fill('sleep-1', on, run);
    await until(() => on.requests.length === 2, 'the second sleep');
    await until(async () => (await run.progress()).waitingFor !== undefined, 'the second sleep');
    await run.handle.signal('steer', { id: 'm1', text: 'wake up', mode: 'preempt' });
    await save('sleep-2', run);
  });
});
