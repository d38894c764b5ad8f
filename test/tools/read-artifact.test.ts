import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ArtifactError, type ArtifactStore } from '../../src/artifacts/artifact-store.js';
import type { OutputBoundsInput } from '../../src/contracts/activities.js';
import { completeBounds, fitsBounds } from '../../src/output/truncate-output.js';
import { createReadArtifact } from '../../src/tools/read-artifact.js';
import { type ContextOptions, type TempWorkspace, tempWorkspace, textOf } from './support/temp-workspace.js';

const EXACT: OutputBoundsInput = { ...completeBounds(), exact: { above: 1_200, head: 700, tail: 260 } };
const NEXT = /\n\[bytes \d+-\d+ of \d+; next page: read_artifact (\{.*\})\]$/u;
const LAST = /\n\[bytes \d+-\d+ of \d+; end of the output\]$/u;

describe('read_artifact', () => {
  test('what fits one page comes back exactly', async () => {
    const workspace = await tempWorkspace();
    const ref = await keep(workspace, 'one\ntwo');
    expect(await read(workspace, { ref })).toBe('one\ntwo');
  });

  test.each([
    ['of the default bounds', undefined, 1],
    ['of bounds that cut at 1,200 characters', EXACT, 100],
  ])('pages %s are whole lines, each names the next, and together they are the whole', async (_, bounds, pagesMin) => {
    const workspace = await tempWorkspace();
    const text = Array.from({ length: 10_000 }, (_unused, at) => `grüne Zeile ${at}\n`).join('');
    const pages = await readAll(workspace, await keep(workspace, text), bounds && { bounds });
    expect(pages.length).toBeGreaterThan(pagesMin);
    expect(pages.every((page) => page.endsWith('\n'))).toBe(true);
    expect(pages.join('') === text).toBe(true);
  });

  test('one endless line is paged inside, never inside a character', async () => {
    const workspace = await tempWorkspace();
    const text = 'x€😀'.repeat(20_000);
    const pages = await readAll(workspace, await keep(workspace, text));
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.join('').trimEnd() === text).toBe(true);
  });

  test('whatever the content, pages go forward, end, and stay within the bounds', async () => {
    const workspace = await tempWorkspace();
    const content = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
        fc.constantFrom(Buffer.from('\n'), Buffer.alloc(900), Buffer.alloc(900, 0xbf), Buffer.from('y'.repeat(900))),
      ),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(content, async (pieces) => {
        const ref = await keep(workspace, Buffer.concat(pieces));
        const pages = await readAll(workspace, ref, { bounds: EXACT });
        expect(pages.length).toBeGreaterThan(0);
      }),
      { numRuns: 40 },
    );
  });

  test('offset and bytes name a part', async () => {
    const workspace = await tempWorkspace();
    const ref = await keep(workspace, `${'a'.repeat(500)}\n${'b'.repeat(500)}\n${'c'.repeat(500)}\n`);
    const page = await read(workspace, { ref, offset: 501, bytes: 600 });
    expect(page).toBe(`${'b'.repeat(500)}\n[bytes 501-1001 of 1503; next page: read_artifact {"ref":"${ref}","offset":1002}]`);
  });

  test('an offset behind the end is told with the size', async () => {
    const workspace = await tempWorkspace();
    const ref = await keep(workspace, 'short');
    await expect(read(workspace, { ref, offset: 5 })).rejects.toThrow('BAD_OFFSET: the output has 5 bytes');
  });

  test('terminal colours and NUL are not passed on', async () => {
    const workspace = await tempWorkspace();
    expect(await read(workspace, { ref: await keep(workspace, '\u001B[31mred\u001B[0m\0\n') })).toBe('red\u2400\n');
  });

  test('L9: what is gone is a failed result that names the reference, never an empty text', async () => {
    const workspace = await tempWorkspace();
    const ref = `sha256:${'0'.repeat(64)}`;
    await expect(read(workspace, { ref })).rejects.toThrow(`content lost: ${ref} (BLOB_MISSING: `);
  });

  test('B30: what is damaged is told as lost; a store that fails is not', async () => {
    const workspace = await tempWorkspace();
    const failing = (code: 'BLOB_CORRUPT' | 'STORE_FAILED'): ArtifactStore => ({
      put: () => workspace.artifacts.put(),
      read: () => Promise.reject(new ArtifactError(code, 'a reason')),
    });
    const reading = (store: ArtifactStore) => createReadArtifact(store).execute({ ref: 'sha256:x' }, workspace.context());
    await expect(reading(failing('BLOB_CORRUPT'))).rejects.toThrow('content lost: sha256:x (BLOB_CORRUPT: a reason)');
    await expect(reading(failing('STORE_FAILED'))).rejects.toThrow(/^STORE_FAILED: a reason$/u);
  });

  test.each([{ ref: 'x', offset: -1 }, { ref: 'x', offset: 1.5 }, { ref: 'x', bytes: 0 }, { ref: 'x', bytes: 1e9 }, { offset: 0 }])(
    'arguments %j are refused',
    async (args) => {
      const { artifacts } = await tempWorkspace();
      expect(createReadArtifact(artifacts).parameters.safeParse(args).success).toBe(false);
    },
  );
});

type Args = Parameters<ReturnType<typeof createReadArtifact>['execute']>[0];

async function read(workspace: TempWorkspace, args: Args, options?: ContextOptions): Promise<string> {
  return textOf(createReadArtifact(workspace.artifacts).execute(args, workspace.context(options)));
}

/** The texts of all pages, without their footers. Fails when a page does not go forward or is too large to be passed on whole. */
async function readAll(workspace: TempWorkspace, ref: string, options?: ContextOptions): Promise<string[]> {
  const pages: string[] = [];
  for (let args: Args = { ref }; ; ) {
    const page = await read(workspace, args, options);
    expect(fitsBounds(page, completeBounds(options?.bounds))).toBe(true);
    const [footer, next] = NEXT.exec(page) ?? [];
    if (footer === undefined || next === undefined) return [...pages, page.replace(LAST, '\n')];
    // the line break before the footer is the page's own where it ends with a line
    const { offset = 0 } = args;
    const nextArgs: Args = JSON.parse(next);
    const text = page.slice(0, -footer.length);
    const ownBytes = (nextArgs.offset ?? 0) - offset;
    expect(ownBytes).toBeGreaterThan(0);
    pages.push(ownBytes === Buffer.byteLength(text) ? text : `${text}\n`);
    args = nextArgs;
  }
}

async function keep({ artifacts }: TempWorkspace, content: string | Buffer): Promise<string> {
  const writer = artifacts.put();
  await writer.write(Buffer.from(content));
  return (await writer.finish()).ref;
}
