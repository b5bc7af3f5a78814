// full: SQLite
/** A process whose event loop stands ends, so that whoever started it can start it again. */

import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { makeClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type Spawned, spawnHawser } from '../support/spawned.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** On SIGURG, which nothing else means, the main thread computes for so many milliseconds. */
const STANDING = `
import { isMainThread } from 'node:worker_threads';
if (isMainThread) process.on('SIGURG', () => {
  const end = performance.now() + Number(process.env.STAND_FOR);
  while (performance.now() < end);
  process.stderr.write('the loop goes round again');
});
`;

describe('a server whose event loop stands', function () {
  this.timeout(120_000);
  const folder = temporaryFolder();
  let server: Spawned | undefined;

  afterEach(async () => {
    server?.child.kill('SIGKILL');
    await server?.ended;
  });

  const start = async (standsFor: number): Promise<Spawned> => {
    writeFileSync(folder('standing.mjs'), STANDING);
    const settings = {
      NODE_OPTIONS: `--import=${folder('standing.mjs')}`,
      STAND_FOR: String(standsFor),
    };
    server = await spawnHawser(folder(), settings);
    return server;
  };

  it('ends with code 70, and says why', async () => {
    const { child, listening, ended } = await start(100_000);
    await listening();
    child.kill('SIGURG');
    const { code, stdout } = await ended;
    expect(code).to.equal(70);
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
    expect(last).to.include({ level: 'error' });
    expect(last.msg).to.match(/the event loop stands/);
  });

  it('goes on where it stands for some seconds only', async () => {
    const { child, listening, stderr } = await start(4_000);
    const target = await listening();
    child.kill('SIGURG');
    await eventually(async () => expect(stderr()).to.include('the loop goes round again'));
    expect((await makeClient(target).get('/health')).status).to.equal(200);
  });
});
