import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { median, round } from '../statistics.mjs';

const SKILLS = 50;
const ROUNDS = 7;
const FILES = ['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'USER.md', 'CLAUDE.md', 'BOOTSTRAP.md'];
const IMPORTED = ['RULES.md', 'STYLE.md'];
const PAGE = 'One line of instructions, as long as they are.\n'.repeat(120);

const METADATA = {
  plain: 'license: MIT',
  // published skills have such options, which need YAML
  nested: 'license: MIT\nmetadata:\n  author: somebody\n  tags: [one, two, three]\n  requires: { bins: [git, node] }',
};

/**
 * (n): the prompt of a run with 50 skills, 6 bootstrap files and 2 files of the config, from the files to the text. Each round has a thread
 * of its own, with new modules: `coldMs` is its first run, `warmMs` a later one. The files are in the system's cache.
 */
export async function prompts() {
  const figures = {};
  for (const [name, metadata] of Object.entries(METADATA)) {
    const folder = await mkdtemp(join(tmpdir(), 'perdure-bench-prompts-'));
    try {
      await writeFolder(folder, metadata);
      const rounds = [];
      for (let at = 0; at < ROUNDS; at += 1) rounds.push(await inThread(folder));
      figures[name] = { coldMs: median(rounds.map(({ cold }) => cold)), warmMs: median(rounds.map(({ warm }) => warm)), all: rounds };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return figures;
}

async function writeFolder(folder, metadata) {
  for (let at = 0; at < SKILLS; at += 1) {
    const name = `skill-${at}`;
    await mkdir(join(folder, 'skills', name), { recursive: true });
    const description = `Does the work of kind ${at}, with care. Use it for tasks about ${name} and what belongs to it.`;
    await writeFile(
      join(folder, 'skills', name, 'SKILL.md'),
      `---\nname: ${name}\ndescription: ${description}\n${metadata}\n---\n\n${PAGE}`,
    );
  }
  await mkdir(join(folder, 'work'));
  for (const file of FILES) await writeFile(join(folder, 'work', file), `${file}\n${PAGE}`);
}

function inThread(folder) {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: { folder } });
    thread.once('message', resolve);
    thread.once('error', reject);
  });
}

async function measureHere({ folder }) {
  const [{ captureSkills }, { capturePrompt }] = await Promise.all([
    import('../../dist/activities/prepare/skills.js'),
    import('../../dist/activities/prepare/capture-prompt.js'),
  ]);
  const agent = { description: 'An agent.', prompt: 'Do it.', promptMode: 'full', skills: 'all', rules: ['Be brief.'] };
  const config = { agents: { a: agent }, instructions: Object.fromEntries(IMPORTED.map((name) => [name, PAGE])) };
  const input = { task: 'work of kind 7', agent: 'a', context: { workspace: join(folder, 'work') } };
  const measure = async () => {
    const startedAt = performance.now();
    const skills = await captureSkills({ input, agent }, { config, folder });
    const { prompt } = await capturePrompt({ runId: 'r', input, name: 'a', agent, model: 'scripted/x', skills }, config);
    const took = round(performance.now() - startedAt);
    const lost = [`skill-${SKILLS - 1}`, ...FILES, ...IMPORTED].filter((name) => !prompt.includes(name));
    if (lost.length > 0) throw new Error(`the prompt has no ${lost.join(', ')}`);
    return took;
  };
  const cold = await measure();
  await measure();
  return { cold, warm: await measure() };
}

if (!isMainThread) parentPort.postMessage(await measureHere(workerData));
