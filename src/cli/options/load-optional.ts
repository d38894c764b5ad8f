import { PerdureError } from '../../contracts/perdure-error.js';

/** An optional peer dependency that a command needs. */
export interface OptionalPackage {
  /** As it is typed, such as `perdure serve`. */
  readonly command: string;
  readonly name: string;
  /** Of the error if the package is not installed. */
  readonly code: string;
}

/** Loads a part of Perdure that needs an optional package. Throws PerdureError with the code of the package (2) if it is not installed. */
export async function loadOptional<Module>({ command, name, code }: OptionalPackage, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'ERR_MODULE_NOT_FOUND' || !cause.message.includes(name))
      throw cause;
    throw new PerdureError(code, `${command} needs the package '${name}'; install it with: npm install ${name}`, 2, { cause });
  }
}
