import { createRequire } from 'node:module';

/**
 * Why external storage cannot work in an installation; undefined when it can. With two copies of protobufjs below the Temporal packages
 * each store fails with "type must be a Type" and is tried again for ever. Throws when @temporalio/common is not installed.
 */
export function protobufjsProblem(from: string | URL = import.meta.url): string | undefined {
  const common = createRequire(from).resolve('@temporalio/common');
  const ofCommon = createRequire(common).resolve('protobufjs');
  const ofProto = createRequire(createRequire(common).resolve('@temporalio/proto')).resolve('protobufjs');
  if (ofCommon === ofProto) return undefined;
  return `two copies of protobufjs (${ofCommon}, ${ofProto}): depend on protobufjs ^8.8.1 directly, or add it to "overrides", and install again`;
}
