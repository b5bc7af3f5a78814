// full: SQLite, PostgreSQL
/** The processes behind `/git`: never left over, whoever breaks off, and never needed for anything else. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  fetchRequest,
  filesIn,
  type GitClient,
  type GitRun,
  gitClient,
  processesIn,
  until,
} from '../support/git-client.ts';
import { createToken, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { expectProblem } from '../support/replies.ts';
import { started } from '../support/started.ts';

const SCOPES = ['configurations.admin-override'];
/** More than all the buffers between git and its client hold together. */
const LARGE = randomBytes(30 * 1024 * 1024);

describe('the processes behind /git', () => {
  let hawser: Hawser;
  let git: GitClient;
  let token: string;

  before(async () => {
    hawser = await startHawser();
    git = gitClient(hawser);
    token = await createToken(hawser.client(), hawser.session, SCOPES);
    await publishConfiguration(hawser.admin, 'small', { '1.0.0': { 'main.dsc.yaml': 'one' } });
    await publishConfiguration(hawser.admin, 'large', {
      '1.0.0': { 'main.dsc.yaml': 'one', 'large.bin': LARGE },
    });
  });

  after(async () => {
    git.close();
    await hawser.close();
  });

  const serving = () => processesIn(hawser.reposDir);
  const none = () => until(() => serving().length === 0, `the end of ${serving()}`);

  /** Asks for the large version by hand and reads nothing beyond the headers. */
  async function startFetch(agent: Agent): Promise<IncomingMessage> {
    const outgoing = request({
      agent,
      port: hawser.server.port,
      method: 'POST',
      path: '/git/configurations/large.git/git-upload-pack',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/x-git-upload-pack-request',
        'Git-Protocol': 'version=2',
      },
    });
    outgoing.end(fetchRequest(hawser.git('configurations/large.git', 'rev-parse', 'main').trim()));
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect(incoming.statusCode).to.equal(200);
    return incoming;
  }
  const newAgent = () => new Agent({ ca: hawser.target().ca, keepAlive: true });

  it('serves thirty clones at once, or tells them to come again', async () => {
    const clone = async (index: number): Promise<GitRun> => {
      const run = await git.run('clone', '-q', git.url('configurations/small', token), `many-${index}`);
      return / 429/.test(run.output) ? clone(index) : run;
    };
    const runs = await Promise.all(Array.from({ length: 30 }, (_, index) => clone(index)));
    for (const { code, output } of runs) expect(code, output).to.equal(0);
    await none();
  });

  it('answers others while one client does not read', async () => {
    const agent = newAgent();
    const incoming = await startFetch(agent);
    expect(serving().join()).to.include('upload-pack');
    const { code, output } = await git.run('ls-remote', git.url('configurations/large', token));
    expect(code, output).to.equal(0);
    incoming.destroy();
    agent.destroy();
    await none();
    await until(() => hawser.log().includes('"brokenOff":true'), 'the line of what was broken off');
  });

  it('ends with a client that is killed in the middle of a clone', async () => {
    for (const signal of ['SIGKILL', 'SIGINT'] as const) {
      const client = git.start('clone', '-q', git.url('configurations/large', token), `killed-${signal}`);
      await until(() => serving().length > 0 && serving().join().includes('pack-objects'), 'a process');
      process.kill(-(client.pid ?? 0), signal);
      await none();
    }
    const again = await git.run('clone', '-q', git.url('configurations/large', token), 'again');
    expect(again.code, again.output).to.equal(0);
    const cloned = filesIn(join(git.folder, 'again'))['large.bin'];
    expect(cloned === LARGE.toString('latin1')).to.equal(true);
  });

  it('ends with a client that goes before the answer begins', async () => {
    for (let round = 0; round < 10; round += 1) {
      const client = git.start('ls-remote', git.url('configurations/small', token));
      await new Promise((resolve) => setTimeout(resolve, 10 * round));
      try {
        process.kill(-(client.pid ?? 0), 'SIGKILL');
      } catch (error) {
        // On a fast machine the later ones are through before.
        expect((error as NodeJS.ErrnoException).code).to.equal('ESRCH');
      }
    }
    await none();
  });

  it('lets a clone finish while the server closes, and leaves no process behind', async () => {
    const agent = newAgent();
    const incoming = await startFetch(agent);
    const closing = hawser.server.close();
    let size = 0;
    for await (const chunk of incoming) size += chunk.length;
    await closing;
    agent.destroy();
    expect(size).to.be.greaterThan(LARGE.length);
    expect(serving()).to.deep.equal([]);
    await hawser.restart();
  });
});

describe('/git without a git binary', () => {
  const hawser = started(() => startHawser({ PATH: '/nonexistent' }));

  it('answers 501, warns once, and serves everything else', async () => {
    const node = await hawser.registerNode('web-01.example.org');
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'one' } });
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await hawser.admin.put(path, { configurationName: 'web' });
    expect((await node.client.get(path)).text).to.equal('one');
    const refs = '/git/configurations/web.git/info/refs?service=git-upload-pack';
    for (let round = 0; round < 2; round += 1) {
      await expectProblem(hawser.admin.get(refs), 501, 'git_not_available');
    }
    await expectProblem(hawser.client().get(refs), 401, 'unauthenticated');
    const warnings = hawser
      .log()
      .split('\n')
      .filter((line) => /"level":"warn".*"searchPath":/.test(line));
    expect(warnings).to.have.length(1);
    const git = gitClient(hawser);
    const token = await createToken(hawser.client(), hawser.session, SCOPES);
    const { output } = await git.run('ls-remote', git.url('configurations/web', token));
    expect(output).to.include('remote: This server has no git');
    git.close();
  });
});
