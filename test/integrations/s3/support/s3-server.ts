import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../support/free-port.js';
import { answersAt, endProcess, namedProgram } from '../../../support/local-process.js';
import { until } from '../../../support/use-workers.js';

const INSTALL = 'mvn -f test/integrations/s3/pom.xml dependency:copy-dependencies -DoutputDirectory=DIR';

/** A real S3 server on loopback, with one bucket. */
export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

/** Starts S3Proxy, which checks signatures, over a folder of its own; it is gone, with its folder, after `stop`. */
export async function startS3Server(): Promise<S3Server> {
  const jars = namedProgram('PERDURE_TEST_S3_SERVER', 'the folder with the jars of S3Proxy', INSTALL);
  const folder = await mkdtemp(join(tmpdir(), 'perdure-s3-'));
  const bucket = 'perdure-test';
  const objects = join(folder, 'objects');
  // a folder is a bucket
  await mkdir(join(objects, bucket), { recursive: true });
  const [accessKeyId, secretAccessKey] = ['perdure-test', randomBytes(16).toString('hex')];
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  const properties = {
    's3proxy.endpoint': endpoint,
    's3proxy.authorization': 'aws-v4',
    's3proxy.identity': accessKeyId,
    's3proxy.credential': secretAccessKey,
    'jclouds.provider': 'filesystem-nio2',
    'jclouds.filesystem.basedir': objects,
    'jclouds.identity': 'unused',
    'jclouds.credential': 'unused',
  };
  const file = join(folder, 's3proxy.properties');
  await writeFile(
    file,
    Object.entries(properties).map(([name, value]) => `${name}=${value}\n`),
  );
  // it lives for seconds: no time for the optimizing compiler
  const args = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', join(jars, '*'), 'org.gaul.s3proxy.Main', '--properties', file];
  const server = spawn('java', args, { env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'ignore', 'inherit'] });
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
