import { createDiskWatch } from '../../artifacts/disk-room.js';
import { failure, finalFailure } from './failures.js';

/** Throws `Worker.DiskFull` if a call could not be stored now. */
export type RoomCheck = () => Promise<void>;

/** Makes the check of the disks of these folders, before a call starts: what it returns, and what the run then does, must be stored. */
export function createRoomCheck(folders: readonly string[]): RoomCheck {
  const fullDisk = createDiskWatch(folders);
  return async () => {
    const problem = await fullDisk();
    if (problem !== undefined) throw failure('Worker.DiskFull', problem);
  };
}

/** Checks the disks before a call of a run that then waits. The failure is final: the run itself waits, where operators see it. */
export function withRoom<Input extends { readonly waitsForRoom?: boolean }, Result>(
  checkRoom: RoomCheck,
  call: (input: Input) => Promise<Result>,
): (input: Input) => Promise<Result> {
  return async (input) => {
    if (input.waitsForRoom) {
      await checkRoom().catch((error: unknown) => {
        throw finalFailure(error);
      });
    }
    return await call(input);
  };
}
