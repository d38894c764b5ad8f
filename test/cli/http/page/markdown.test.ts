import { describe, expect, it } from 'vitest';
import { readMarkdown, safeAddress } from '../../../../src/gateway/page/browser/content/markdown.js';
import type { Tree } from '../../../../src/gateway/page/browser/content/tree.js';

/** A tree in short: `p(text strong(bold))`. */
function short(tree: readonly Tree[]): string {
  return tree
    .map((part) => {
      if (typeof part === 'string') return part;
      return `${part.tag}${part.href === undefined ? '' : `<${part.href}>`}(${short(part.children)})`;
    })
    .join('');
}

function shown(text: string): string {
  return readMarkdown(text)
    .map(({ tree }) => short(tree))
    .join(' ');
}

describe('readMarkdown', () => {
  it('reads what models write: headings, lists, tables, code, emphasis, links, quotes', () => {
    expect(shown('# Title\n\nA *b* **c** ~~d~~ `e<f>`')).toBe('h3(Title) p(A em(b) strong(c) del(d) code(e<f>))');
    expect(shown('- one\n- two\n  - three')).toBe('ul(li(one)li(twoul(li(three))))');
    expect(shown('3. a\n4. b')).toBe('ol(li(a)li(b))');
    expect(shown('- [x] done\n- [ ] open')).toBe('ul(li(span(☑ )done)li(span(☐ )open))');
    expect(shown('| a | b |\n|---|---|\n| 1 | 2 |')).toBe('span(table(thead(tr(th(a)th(b)))tbody(tr(td(1)td(2)))))');
    expect(shown('```js\nlet a = "<b>";\n```')).toBe('pre(code(let a = "<b>";))');
    expect(shown('> quoted')).toBe('blockquote(p(quoted))');
    expect(shown('[text](https://a.example/b) and https://c.example')).toBe(
      'p(a<https://a.example/b>(text) and a<https://c.example/>(https://c.example))',
    );
    expect(shown('a &amp; b &lt;i&gt; &#39;c&#39; &unknown;')).toBe("p(a & b <i> 'c' &unknown;)");
  });

  it('X20: HTML stays text, in every place where Markdown allows it', () => {
    const hostile = '<img src=x onerror=alert(1)>';
    for (const text of [
      hostile,
      `a ${hostile}`,
      `# ${hostile}`,
      `- ${hostile}`,
      `> ${hostile}`,
      `**${hostile}**`,
      `| ${hostile} |\n|---|\n| ${hostile} |`,
    ]) {
      expect([text, shown(text)]).toEqual([text, expect.stringContaining(hostile)]);
    }
    expect(shown('<script>alert(1)</script>')).toBe('p(<script>alert(1)</script>)');
    expect(shown('&lt;script&gt;alert(1)&lt;/script&gt;')).toBe('p(<script>alert(1)</script>)');
  });

  it('X20: links lead only to safe addresses, and images are links', () => {
    expect(shown('[a](javascript:alert(1)) [b](data:text/html,x) [c](/v1/runs) [d](JaVaScRiPt:x)')).toBe('p(a b c d)');
    expect(shown('[a](&#106;avascript:alert(1)) [b](java\tscript:x) <javascript:alert(1)>')).not.toContain('a<');
    expect(shown('![alt](https://a.example/x.png) ![alt](data:image/svg+xml,x)')).toBe('p(a<https://a.example/x.png>(🖼 alt) 🖼 alt)');
    expect(shown('[a](https://bank.example@evil.example/)')).toBe('p(a)');
    expect(shown('[a][r]\n\n[r]: javascript:alert(1)')).toBe('p(a)');
  });

  it('reads a text of any length and nesting, and one that is cut off anywhere', () => {
    const text = '# A\n\n- b `c`\n  1. **d** [e](https://f.example)\n\n```\ng\n```\n\n| h |\n|---|\n| i |\n';
    for (let end = 0; end <= text.length; end += 1) expect(() => readMarkdown(text.slice(0, end))).not.toThrow();
    for (const hostile of ['> ', '*a ', '_a', '[', '<', '- ', '`']) {
      expect(shown(hostile.repeat(500_000)) === `p(${hostile.repeat(500_000)})`).toBe(true);
      expect(shown(hostile.repeat(1_000)).length).toBeGreaterThan(0);
    }
  });

  it('gives the blocks before the end the same source as a text grows, so that the page keeps their elements', () => {
    const [first] = readMarkdown('one\n\ntwo');
    expect(readMarkdown('one\n\ntwo three')[0]?.source).toBe(first?.source);
  });
});

describe('safeAddress', () => {
  it('takes http, https and mailto, and nothing else', () => {
    expect(['https://a.example/', 'http://a.example/b?c#d', 'mailto:a@b.example'].map(safeAddress)).not.toContain(undefined);
    for (const address of [
      'javascript:alert(1)',
      ' javascript:alert(1)',
      'data:text/html,x',
      'blob:x',
      'file:///etc/passwd',
      '//a.example',
      'relative',
      '',
      'vbscript:x',
    ]) {
      expect([address, safeAddress(address)]).toEqual([address, undefined]);
    }
  });
});
