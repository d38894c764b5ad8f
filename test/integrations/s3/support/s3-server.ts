import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../support/free-port.js';
import { answersAt, endProcess, namedProgram } from '../../../support/local-process.js';
import { until } from '../../../support/use-workers.js';

const INSTALL = 'GOBIN=DIR go install github.com/versity/versitygw/cmd/versitygw@v1.8.0';

/** A real S3 server on loopback, with one bucket. */
export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

/** Starts versitygw, which checks signatures, over a folder of its own; it is gone, with its folder, after `stop`. */
export async function startS3Server(): Promise<S3Server> {
  const program = namedProgram('PERDURE_TEST_S3_SERVER', 'the program versitygw', INSTALL);
  const folder = await mkdtemp(join(tmpdir(), 'perdure-s3-'));
  const bucket = 'perdure-test';
  const objects = join(folder, 'objects');
  // a folder is a bucket
  await mkdir(join(objects, bucket), { recursive: true });
  const [accessKeyId, secretAccessKey] = ['perdure-test', randomBytes(16).toString('hex')];
  const address = `127.0.0.1:${await freePort()}`;
  const endpoint = `http://${address}`;
  const env = { PATH: process.env['PATH'], ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey };
  const server = spawn(program, ['--quiet', '--port', address, 'posix', objects], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  // nobody may list the buckets without a key
  await until(() => answersAt(endpoint, server, 403), 'the S3 server');
  return {
    endpoint,
    bucket,
    accessKeyId,
    secretAccessKey,
    stop: async () => {
      await endProcess(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
