import { runCommand, startCommand } from '../command.mjs';
import { median } from '../statistics.mjs';
import { until } from '../until.mjs';

/** (h): from the command's start to the first request, in an empty folder and where a server runs; and `show`. Median of three. */
export async function startUp(arena) {
  const empty = [];
  for (let round = 0; round < 3; round += 1) empty.push(await inEmptyFolder(arena));
  const place = { cwd: arena.folder, env: arena.env };
  const running = [];
  const show = [];
  for (let round = 0; round < 3; round += 1) {
    running.push(await firstRequest(arena, ['run', JSON.stringify({ turns: 1 }), '--id', `bench-start-${round}`], place));
    show.push(await runCommand(['show', `bench-start-${round}`], place));
  }
  return { emptyFolderMs: median(empty), serverRunningMs: median(running), showMs: median(show), all: { empty, running, show } };
}

async function inEmptyFolder(arena) {
  const { path, remove } = await arena.emptyFolder();
  try {
    return await firstRequest(arena, ['run', JSON.stringify({ turns: 1 })], { cwd: path, env: arena.env });
  } finally {
    await remove();
  }
}

async function firstRequest(arena, args, place) {
  await arena.model.takeTimes();
  const command = startCommand(args, place);
  const [asked] = await until(async () => {
    const times = await arena.model.takeTimes();
    return times.length > 0 ? times : undefined;
  }, 'the first request');
  const code = await command.exited;
  if (code !== 0) throw new Error(`exit ${code}: ${command.lines.map(({ line }) => line).join('\n')}`);
  return asked - command.startedAt;
}
