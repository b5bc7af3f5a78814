// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { auditEntries, type Entry } from '../support/audit.ts';
import { addEntries } from '../support/audit-table.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationPath, saveParameters } from '../support/parameter-files.ts';
import { makeUser, type Person } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const idsOf = (entries: readonly Entry[]) => entries.map(({ id }) => id);

describe('the audit trail by names', () => {
  const hawser = started(startHawser);
  let ann: Person;
  let node: NodeUnderTest;

  const audit = (query: string) => auditEntries(hawser, `take=1000&${query}`);

  before(async () => {
    ann = await makeUser(hawser, { username: 'Ann', roles: ['Administrator'] });
    node = await hawser.registerNode('web-01.example.org');
    await publishConfiguration(ann, 'Web', { '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' } });
    await saveParameters(hawser, { configuration: 'Web', content: 'parameters: {}' });
    await ok(204, ann.put(configurationPath(node), { configurationName: 'Web' }));
  });

  it('finds what somebody did, and what was done to something, in any case, by id too', async () => {
    const mine = await audit('actor=ann');
    expect(mine.length).to.be.greaterThan(2);
    for (const entry of mine) expect(entry).to.include({ actorName: 'Ann' });
    expect(idsOf(await audit(`actor=${ann.userId}`))).to.deep.equal(idsOf(mine));
    expect(idsOf(await audit(`userId=${ann.userId}`))).to.deep.equal(idsOf(mine));
    const ofWeb = await audit('resource=WEB');
    expect(new Set(ofWeb.map(({ resourceType }) => resourceType))).to.deep.equal(
      new Set(['Configuration', 'Parameters']),
    );
    for (const entry of ofWeb) expect(entry).to.include({ resourceName: 'Web' });
    const both = await audit(`resource=web,${node.fqdn}&actor=Ann`);
    expect(idsOf(both)).to.deep.equal(
      idsOf(mine.filter(({ resourceName }) => resourceName === 'Web' || resourceName === node.fqdn)),
    );
    expect(new Set(both.map(({ resourceName }) => resourceName)).size).to.equal(2);
    expect(await audit('actor=nobody')).to.deep.equal([]);
    expect(await audit('resource=nothing,')).to.deep.equal([]);
    const server = { actor_type: 'System', actor_name: 'hawser' } as const;
    await addEntries(hawser, [{ ...server, action: 'audit.pruned', timestamp: hawser.clock.now() }]);
    // A group of the server's name is nobody who acts.
    await ok(201, ann.post('/api/v1/groups', { name: 'hawser' }));
    const byServer = await audit('actor=hawser');
    expect(byServer).to.have.length(1);
    for (const entry of byServer) expect(entry).to.include({ actorType: 'System' });
    const byEither = (await audit('')).filter(({ actorName }) => ['Ann', 'hawser'].includes(actorName ?? ''));
    expect(idsOf(await audit('actor=Ann,hawser'))).to.deep.equal(idsOf(byEither));
  });

  it('finds actions by globs, several with commas', async () => {
    const all = await audit('');
    const like = (...starts: string[]) =>
      idsOf(all.filter(({ action }) => starts.some((start) => action.startsWith(start))));
    expect(idsOf(await audit('action=configuration.*'))).to.deep.equal(like('configuration.'));
    expect(idsOf(await audit('action=Configuration.*,node.*'))).to.deep.equal(
      like('configuration.', 'node.'),
    );
    expect(idsOf(await audit('action=*.version_published'))).to.have.length(2);
    expect(await audit('action=cat.*')).to.deep.equal([]);
  });

  it('has a sentence for each entry, and knows the name of what was deleted', async () => {
    const other = await hawser.registerNode('gone.example.org');
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${other.nodeId}`));
    const gone = await audit(`resource=${other.fqdn}`);
    expect(gone.map(({ action }) => action)).to.include.members(['node.registered', 'node.deleted']);
    for (const { resourceName } of gone) expect(resourceName).to.equal(other.fqdn);
    for (const { summary, action } of await audit('')) {
      expect(summary, action).to.match(/^\S+ \S/);
      expect(summary, action).to.not.include('NAME');
    }
    const [published] = await audit('resource=Web&action=configuration.version_published');
    expect(published?.summary).to.equal('Version 1.0.0 of Web was published');
  });

  it('is the same as a whole', async () => {
    const page = await audit(`actor=Ann`);
    const { text } = await hawser.admin.get('/api/v1/audit?actor=Ann', { Accept: 'text/csv' });
    expect(text.split('\r\n')[0]).to.include('resourceName,summary');
    expect(text.trim().split('\r\n')).to.have.length(page.length + 1);
  });
});
