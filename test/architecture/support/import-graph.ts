import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';

/** One import of a source file: another file of the tree, or a package. `isType`: nothing of it is loaded. */
export interface Import {
  readonly from: string;
  readonly to: string;
  readonly isType: boolean;
}

/** The imports of a source tree, as its texts say them. Paths are relative to the tree's folder. */
export interface ImportGraph {
  readonly texts: ReadonlyMap<string, string>;
  readonly imports: readonly Import[];
  /** Relative imports that lead to no file. */
  readonly lost: readonly Import[];
}

const STATEMENT =
  /(?:^|\n)(?<verb>import|export)\s(?<type>type\s)?(?:(?<names>[^;'"]*?)\sfrom\s)?['"](?<name>[^'"\n]+)['"]|import\(['"](?<lazy>[^'"]+)['"]\)/gu;

/** Reads every TypeScript file below `folder`. */
export async function readImportGraph(folder: string): Promise<ImportGraph> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const texts = new Map(await Promise.all(files.map(async (file) => [file, await readFile(join(folder, file), 'utf8')] as const)));
  const all = [...texts].flatMap(([file, text]) => importsIn(file, text));
  const isLost = ({ to }: Import): boolean => to.endsWith('.ts') && !texts.has(to);
  return { texts, imports: all.filter((one) => !isLost(one)), lost: all.filter(isLost) };
}

function importsIn(from: string, text: string): Import[] {
  return [...text.matchAll(STATEMENT)].map(({ groups = {} }) => {
    const name = groups['name'] ?? groups['lazy'] ?? '';
    const to = name.startsWith('.') ? posix.join(dirname(from), name.replace(/\.js$/u, '.ts')) : name;
    return { from, to, isType: groups['type'] !== undefined };
  });
}

/** All files and packages that are loaded with some files. Types are not. */
export function reachedFrom({ imports }: ImportGraph, files: readonly string[]): Set<string> {
  const reached = new Set(files);
  for (const file of reached) for (const { from, to, isType } of imports) if (from === file && !isType) reached.add(to);
  return reached;
}

/** Files that import each other in a circle, types too: each circle as its imports, `a.ts -> b.ts`. */
export function fileCircles(graph: ImportGraph): string[][] {
  return circles(graph, (file) => file);
}

/**
 * Folders that import each other in a circle, so that one of the arrows runs back up: each circle as the imports between its folders.
 * Folders are compared with those of the same depth: rooms with rooms, subjects with subjects.
 */
export function folderCircles(graph: ImportGraph): string[][] {
  const depths = [1, 2, 3];
  const found = depths.map((depth) => circles(graph, (file) => dirname(file).split('/').slice(0, depth).join('/')));
  // a circle of folders is one at each greater depth too
  return [...new Map(found.flat().map((circle) => [circle.join(), circle])).values()];
}

function circles({ imports, texts }: ImportGraph, placeOf: (file: string) => string): string[][] {
  const between = imports.filter(({ from, to }) => texts.has(to) && placeOf(from) !== placeOf(to));
  const next = new Map<string, Set<string>>();
  for (const { from, to } of between) next.set(placeOf(from), (next.get(placeOf(from)) ?? new Set()).add(placeOf(to)));
  const reaches = new Map([...next.keys()].map((place) => [place, reachable(next, place)]));
  const isTied = (one: string, other: string): boolean => Boolean(reaches.get(one)?.has(other) && reaches.get(other)?.has(one));
  const groups = new Map<string, string[]>();
  for (const { from, to } of between.filter((one) => isTied(placeOf(one.from), placeOf(one.to)))) {
    const group = [...next.keys()]
      .filter((place) => isTied(place, placeOf(from)))
      .toSorted()
      .join(', ');
    groups.set(group, [...(groups.get(group) ?? []), `${from} -> ${to}`]);
  }
  return [...groups.values()];
}

function reachable(next: ReadonlyMap<string, ReadonlySet<string>>, start: string): Set<string> {
  const reached = new Set(next.get(start));
  for (const place of reached) for (const further of next.get(place) ?? []) reached.add(further);
  return reached;
}
