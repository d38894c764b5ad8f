import { providerSuite } from '../../suite/provider-suite.js';
import { startWireFixture } from '../../suite/wire-fixture.js';

const TEXT_ONLY = 'a completion knows nothing but text, and a picture is named in it';

providerSuite('openai-completions', {
  start: () => startWireFixture({ api: 'openai-completions' }),
  cannot: { M21: 'completions have no word for a paused answer', images: TEXT_ONLY },
});
