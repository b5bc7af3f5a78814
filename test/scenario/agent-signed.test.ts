// everyday: SQLite
/** The agent with signers, and the real server. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AgentUnderTest, makeAgentOf } from '../support/agent.ts';
import { publishWithChildren } from '../support/composites.ts';
import { release } from '../support/configurations.ts';
import { gitClient } from '../support/git-client.ts';
import { createKey, createToken, startHawser } from '../support/hawser.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { beginAuthor, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { signerLine, tagSigned } from '../support/signed-tags.ts';
import { newSshKey } from '../support/ssh-keys.ts';
import { started } from '../support/started.ts';

const FILES = {
  'main.dsc.yaml': '$schema: x\nresources: []\n# signed\n',
  'modules/a.ps1': 'Write-Output 1\n',
};

describe('hawser-agent with signers and the server', function () {
  this.timeout(60_000);
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  const ada = newSshKey();
  let agent: AgentUnderTest;
  let token: string;

  before(async () => {
    token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
  });
  beforeEach(async () => {
    agent = makeAgentOf(hawser, {
      REGISTRATION_KEY: await createKey(hawser.admin, { maxUses: 1 }),
      NAME: `agent-${Math.random().toString(36).slice(2)}.example.org`,
    });
    agent.settings['SIGNERS'] = join(agent.folder, 'signers');
    writeFileSync(join(agent.folder, 'signers'), signerLine(ada));
  });
  afterEach(() => agent.remove());

  const node = (path: string) => `/api/v1/nodes/${agent.nodeId()}${path}`;
  const assign = (body: object) => ok(204, hawser.admin.put(node('/configuration'), body));
  const detail = () => ok(200, hawser.admin.get(node('')));
  const reports = () => ok(200, hawser.admin.get(node('/reports')));
  async function signed(): Promise<PushAuthor> {
    const author = await beginAuthor(hawser, client, token);
    await author.commit(FILES);
    await tagSigned(author, ada);
    await author.ok('push', 'origin', 'v1.1.0');
    return author;
  }

  it('runs a signed version, and goes on with it when the next one is not signed', async () => {
    const { name } = await signed();
    await agent.cycle();
    await assign({ configurationName: name });
    await agent.cycle();
    expect(agent.runs()).to.have.length(1);
    expect(agent.runs()[0]).to.include({ document: FILES['main.dsc.yaml'] });
    const [before] = await reports();
    await release(hawser.admin, name, '1.2.0');
    await agent.cycle(1);
    const [report] = await reports();
    expect(report).to.include({ hadErrors: true, configurationChecksum: before.configurationChecksum });
    const { result } = await ok(200, hawser.admin.get(`/api/v1/reports/${report.id}`));
    expect(result.messages[0]).to.include({ level: 'error' });
    expect(result.messages[0].message).to.match(/^signature_refused: no_signature/);
    expect(await detail()).to.include({ lcmStatus: 'Error' });
    expect(agent.runs()).to.have.length(2);
  });

  it('runs a composite whose children are signed, and no other', async () => {
    const [one, two] = [await signed(), await signed()];
    await saveParameters(hawser, { configuration: one.name, content: 'parameters: {port: 80}' });
    const other = await beginAuthor(hawser, client, token);
    const children = async (...authors: PushAuthor[]) => {
      const composite = authors.map(({ name }) => name).join('-and-');
      const names = authors.map(({ name }) => name);
      await publishWithChildren(hawser.admin, composite, '1.0.0', names);
      return composite;
    };
    await agent.cycle();
    await assign({ configurationName: await children(one, two), isComposite: true });
    await agent.cycle();
    expect(agent.runs()).to.have.length(1);
    await assign({ configurationName: await children(one, other), isComposite: true });
    await agent.cycle(1);
    expect((await reports())[0]).to.include({ hadErrors: true });
  });
});
