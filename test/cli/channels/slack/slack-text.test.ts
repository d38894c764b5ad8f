import { describe, expect, it } from 'vitest';
import { slackText } from '../../../../src/channels/slack/slack-text.js';

describe('slackText', () => {
  it('mentions nobody, whatever the model writes', () => {
    expect(slackText('<!channel> <@U1> <https://evil|click>')).toBe('&lt;!channel&gt; &lt;@U1&gt; &lt;https://evil|click&gt;');
    expect(slackText('`<!here>`')).toBe('`&lt;!here&gt;`');
    expect(slackText('[x](https://a.example/|<!channel>)')).not.toContain('<!channel>');
  });

  it('converts bold, headings, links and strikethrough', () => {
    expect(slackText('# Title\n\n**bold** and ~~gone~~, see [the page](https://a.example/x?a=1&b=2).')).toBe(
      '*Title*\n\n*bold* and ~gone~, see <https://a.example/x?a=1&amp;b=2|the page>.',
    );
    expect(slackText('> quoted')).toBe('> quoted');
  });

  it('leaves code as it is', () => {
    const code = '```ts\n# no heading\nconst a = b ** c;\n```';
    expect(slackText(code)).toBe(code);
    expect(slackText('`**x**`')).toBe('`**x**`');
  });
});
