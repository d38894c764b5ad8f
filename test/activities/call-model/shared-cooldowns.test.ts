import { describe, expect, it } from 'vitest';
import { SharedCooldowns } from '../../../src/activities/call-model/shared-cooldowns.js';
import { failure, modelFailure } from '../../../src/activities/runtime/failures.js';
import { MODEL_LIMITS } from '../../../src/contracts/constants/limits.js';
import { CooldownTable } from '../../../src/contracts/models/cooldowns.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { call, say } from '../../support/agent-worker.js';
import { candidate, fakeModels } from '../../support/model-route.js';
import { useWorkers } from '../../support/use-workers.js';

const LAST = MODEL_LIMITS.attemptsMax;
const asked = { model: 'a/one', hasAlternative: true };

describe('SharedCooldowns', () => {
  it('a model that failed for good is refused to a run that has somebody else to ask, with the time that is left', () => {
    const shared = new SharedCooldowns();
    shared.failed(asked, failure('Model.Overloaded', '529'), LAST, 1_000);
    expect(() => shared.refuseCooling(asked, 21_000)).toThrow(
      expect.objectContaining({ type: 'Model.Overloaded', nonRetryable: true, details: [{ sharedMs: 40_000 }] }),
    );
    expect(() => shared.refuseCooling({ model: 'a/one' }, 21_000)).not.toThrow();
    expect(() => shared.refuseCooling({ model: 'a/two', hasAlternative: true }, 21_000)).not.toThrow();
    expect(() => shared.refuseCooling(asked, 61_001)).not.toThrow();
  });

  it('an attempt that is tried again says nothing yet; a limit of two minutes does', () => {
    const shared = new SharedCooldowns();
    shared.failed(asked, failure('Model.Overloaded', '529'), LAST - 1, 0);
    expect(() => shared.refuseCooling(asked, 1)).not.toThrow();
    shared.failed(asked, modelFailure(new ModelError('Model.RateLimited', '429', { retryAfterMs: 120_000 })), 1, 0);
    expect(() => shared.refuseCooling(asked, 119_000)).toThrow(/cooling down for another 1 s/u);
  });

  it('a refused key is refused for every model of its provider, and for no other key', () => {
    const shared = new SharedCooldowns();
    shared.failed({ ...asked, credential: 'env:K' }, failure('Model.Auth', '401'), 1, 0);
    expect(() => shared.refuseCooling({ model: 'a/other', credential: 'env:K', hasAlternative: true }, 1)).toThrow(/Model.Auth/u);
    expect(() => shared.refuseCooling({ model: 'a/one', credential: 'env:K_2', hasAlternative: true }, 1)).not.toThrow();
  });

  it('a refused key is believed to be refused for ten minutes, and not for the day that its own run leaves it alone', () => {
    const shared = new SharedCooldowns();
    shared.failed({ ...asked, credential: 'env:K' }, failure('Model.Auth', '401'), 1, 0);
    expect(() => shared.refuseCooling({ ...asked, credential: 'env:K' }, 10 * 60_000 - 1)).toThrow(/Model.Auth/u);
    expect(() => shared.refuseCooling({ ...asked, credential: 'env:K' }, 10 * 60_000)).not.toThrow();
  });

  it('a model that is not there is believed to be away for ten minutes: a person may have brought it back', () => {
    const shared = new SharedCooldowns();
    shared.failed(asked, failure('Model.NotFound', '404'), 1, 0);
    expect(() => shared.refuseCooling(asked, 10 * 60_000 - 1)).toThrow(/Model.NotFound/u);
    expect(() => shared.refuseCooling(asked, 10 * 60_000)).not.toThrow();
  });

  it('what another run found out is not told as if it had been found out again; an answer ends it', () => {
    const shared = new SharedCooldowns();
    shared.failed(asked, failure('Model.Overloaded', 'told', { details: [{ sharedMs: 5_000 }], nonRetryable: true }), 1, 0);
    expect(() => shared.refuseCooling(asked, 1)).not.toThrow();
    shared.failed(asked, failure('Model.Overloaded', '529'), LAST, 0);
    shared.answered(asked);
    expect(() => shared.refuseCooling(asked, 1)).not.toThrow();
  });
});

describe('CooldownTable', () => {
  const failed = { model: 'a/one', type: 'Model.RateLimited' };
  const DAY_MS = 86_400_000;

  it('what is left alone for an hour stays so when it fails for less', () => {
    const table = new CooldownTable();
    table.cool({ ...failed, retryAfterMs: 3_600_000, now: 0 });
    expect(table.cool({ ...failed, sharedMs: 1_000, now: 10 })).toMatchObject({ until: 3_600_000, failures: 1 });
  });

  it('forgets what was over a day ago, so that it does not grow for as long as a worker lives', () => {
    const table = new CooldownTable();
    for (let day = 0; day < 100; day += 2) table.cool({ ...failed, model: `a/${day}`, now: day * DAY_MS });
    expect(table.carry().map(({ key }) => key)).toEqual(['a/98\n']);
  });
});

describe('runs of one worker', () => {
  const { worker, start } = useWorkers();

  it('the second run does not ask the model that the first one found limited, and says so', async () => {
    const models = fakeModels({
      'a/one': () => {
        throw new ModelError('Model.RateLimited', '429', { retryAfterMs: 120_000 });
      },
      'b/two': () => say('two'),
    });
    const on = await worker({
      model: () => call(),
      providerFor: models.providerFor,
      route: [candidate('a/one'), candidate('b/two')],
      policy: {},
    });
    await (await start(on)).result();
    const second = await start(on);
    expect(await second.result()).toMatchObject({ output: 'two', switches: [{ to: 'b/two', why: 'Model.RateLimited' }] });
    expect(models.asked).toEqual(['a/one', 'b/two', 'b/two']);
    const cooling = (await second.events()).find((event) => event.type === 'model.cooling');
    expect(Date.parse(cooling?.until ?? '') - (cooling?.at ?? 0)).toBeLessThan(120_000);
  });
});
