import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { CHEAP_HASHES } from '../support/cheap-hashes.ts';
import { type Client, makeClient } from '../support/client.ts';
import { create } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { ADMIN_PASSWORD, createToken, signIn } from '../support/hawser.ts';
import { describeWith, LINUX } from '../support/optional-tools.ts';
import { steadyPort } from '../support/ports.ts';
import { programArguments } from '../support/program.ts';
import { ok } from '../support/replies.ts';

const FULL = '/dev/full';

describeWith([LINUX], 'a server whose log cannot be written', () => {
  let folder: string;
  let child: ChildProcess;
  let client: Client;

  const start = async (stdout: number | 'pipe') => {
    // Nobody can read its log, so its port is told beforehand.
    const port = await steadyPort();
    const env = {
      PATH: process.env['PATH'] ?? '',
      HAWSER_HOST: '127.0.0.1',
      HAWSER_PORT: String(port),
      HAWSER_DATA_DIR: join(folder, 'data'),
      HAWSER_REPOS_DIR: join(folder, 'repos'),
      HAWSER_ADMIN_PASSWORD: ADMIN_PASSWORD,
      ...CHEAP_HASHES,
      HAWSER_LOG_LEVEL: 'debug',
    };
    const stdio = ['ignore', stdout, 'inherit'] as const;
    child = spawn(process.execPath, programArguments('main'), {
      cwd: PROJECT,
      env,
      stdio: [...stdio],
    });
    client = await eventually(async () => {
      const made = makeClient({ port, ca: readFileSync(join(folder, 'data/tls/ca.crt'), 'utf8') });
      await ok(200, made.get('/health/ready'));
      return made;
    });
  };

  const expectService = async () => {
    const session = await signIn(client, 'admin', ADMIN_PASSWORD);
    const token = await createToken(client, session, ['configurations.create']);
    const admin = client.with({ Authorization: `Bearer ${token}` });
    await ok(201, create(admin, `web-${Date.now()}`));
    for (let call = 0; call < 100; call += 1) await ok(200, admin.get('/api/v1/configurations'));
  };

  const expectOrderlyEnd = async () => {
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).to.equal(0);
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-log-full-'));
  });

  afterEach(() => {
    client?.close();
    child?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  it('serves, writes and ends in order on a full disk', async () => {
    await start(openSync(FULL, 'w'));
    await expectService();
    await expectOrderlyEnd();
  });

  it('serves, writes and ends in order when the reader of its log has gone', async () => {
    await start('pipe');
    child.stdout?.destroy();
    await expectService();
    await expectOrderlyEnd();
  });
});
