/** A Hawser in a separate process, on a free port. Its folders are removed when it stops. */

import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Target } from '../../test/support/client.ts';
import { atExit } from './cleanup.ts';
import { Program } from './program.ts';
import { PROJECT } from './project.ts';

const START_TIMEOUT = 30_000;
const LISTENING = /"url":"(https:\/\/[^"]+:(\d+))"[^\n]*"msg":"listening"/;

export interface TemporaryServer {
  url: string;
  target: Target;
  dataDir: string;
  reposDir: string;
  /** The password of the user `admin`. */
  password: string;
  /** @returns its exit code; null if it had to be killed. The folders are removed afterwards. */
  stop(): Promise<number | null>;
}

/** @throws Error with the server's own output if it does not start */
export async function startTemporaryServer(): Promise<TemporaryServer> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-demo-'));
  const dataDir = join(folder, 'data');
  const reposDir = join(folder, 'repos');
  const password = randomBytes(24).toString('base64');
  const env = {
    PATH: process.env['PATH'] ?? '',
    HAWSER_HOST: '127.0.0.1',
    HAWSER_PORT: '0',
    HAWSER_DATA_DIR: dataDir,
    HAWSER_REPOS_DIR: reposDir,
    HAWSER_ADMIN_PASSWORD: password,
  };
  const program = new Program(process.execPath, ['.build/main.js'], { cwd: PROJECT, env });
  const cleanUp = atExit(() => {
    program.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  if (!(await program.waitFor((output) => LISTENING.test(output), START_TIMEOUT))) {
    cleanUp();
    throw new Error(`the server did not start:\n${program.output}`);
  }
  const [, url = '', port] = LISTENING.exec(program.output) ?? [];
  return {
    url,
    target: { port: Number(port), ca: readFileSync(join(dataDir, 'tls/ca.crt'), 'utf8') },
    dataDir,
    reposDir,
    password,
    async stop() {
      const code = await program.stop();
      cleanUp();
      return code;
    },
  };
}
