import { ModelError } from '../contract/model-error.js';

/**
 * Loads an optional package when it is needed first. Throws `Model.BadRequest` with the command that installs it when it is not there.
 *
 * @param load imports it
 */
export async function loadPeer<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new ModelError('Model.BadRequest', `this provider needs a package that is not installed: npm install ${name}`);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}
