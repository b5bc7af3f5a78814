// full: SQLite
/** Numbers of versions that JavaScript would round: SemVer sets no limit to them. */

import { expect } from 'chai';
import { addVersion, CONFIGURATIONS, create, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, configurationPath, pullParameters } from '../support/parameter-files.ts';
import { expectInvalid, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

/** The first number that a double cannot tell from the one below it. */
const [BEYOND, ABOVE] = ['9007199254740992', '9007199254740993'];
const RISING = [
  ...['1.0.0', `1.0.1-dev.${BEYOND}`, `1.0.1-dev.${ABOVE}`, '1.0.1-dev.10000000000000000000', '1.0.1-dev.x'],
  ...['1.0.1', `1.0.${BEYOND}`, `1.0.${ABOVE}`, `1.${ABOVE}.0`, '2.0.0', `${BEYOND}.0.0`, `${ABOVE}.0.0`],
];
const FILES = { [MAIN]: '$schema: x\nparameters: {port: {type: int}}\nresources: []\n' };

describe('versions with long numbers', () => {
  const hawser = started(startHawser);

  const member = async (path: string, name: string) => {
    const list: Record<string, unknown>[] = await ok(200, hawser.admin.get(path));
    return list.map((each) => each[name]);
  };
  const resolved = async (fqdn: string, wish: Record<string, unknown>) => {
    const node = await hawser.registerNode(fqdn);
    await assign(hawser, node, 'web', wish);
    return (await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}`))).assignment.resolvedVersion;
  };

  before(async () => {
    await ok(201, create(hawser.admin, 'web', { version: '1.0.0' }));
    await ok(200, publish(hawser.admin, 'web', '1.0.0'));
    for (const version of RISING.slice(1).toSorted()) {
      await ok(201, addVersion(hawser.admin, 'web', { version }));
      await ok(200, publish(hawser.admin, 'web', version));
    }
  });

  it('are listed in their order, and offered by it', async () => {
    expect(await member(versionsOf('web'), 'version')).to.deep.equal(RISING.toReversed());
    const web = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/web`));
    expect(web).to.include({ latestVersion: RISING.at(-1), latestPublishedVersion: RISING.at(-1) });
    expect(await resolved('any.example.org', {})).to.equal(RISING.at(-1));
    expect(await resolved('one.example.org', { majorVersion: 1, prereleaseChannel: 'dev' })).to.equal(
      `1.${ABOVE}.0`,
    );
    expect(await resolved('exact.example.org', { version: `${BEYOND}.0.0` })).to.equal(`${BEYOND}.0.0`);
  });

  it('are not followed by an assignment to a major that JSON cannot hold exactly', async () => {
    const node = await hawser.registerNode('large.example.org');
    const wish = (majorVersion: number) =>
      hawser.admin.put(configurationPath(node), { configurationName: 'web', majorVersion });
    await expectInvalid(wish(2 ** 53), '/majorVersion');
    await ok(204, wish(2));
  });

  it('are followed by the next patch, exactly', async () => {
    const made = await ok(201, addVersion(hawser.admin, 'web', {}));
    expect(made.version).to.equal(`${ABOVE}.0.1`);
    await ok(204, hawser.admin.delete(`${versionsOf('web')}/${ABOVE}.0.1`));
  });

  it('have parameter files of their own major, or of the nearest lower one', async () => {
    const contents = { [`${ABOVE}.0.0`]: FILES, [`${ABOVE.slice(0, -1)}9.0.0`]: FILES };
    await publishConfiguration(hawser.admin, 'own', contents);
    const set = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'own')}`;
    const save = async (version: string, port: number) => {
      const file = await ok(
        201,
        hawser.admin.put(set, { version, content: `parameters: {port: ${port}}\n` }),
      );
      await ok(200, hawser.admin.put(`${set}/versions/${version}/publish`));
      return file.majorVersion;
    };
    expect([await save('7.0.0', 7), await save(`${BEYOND}.0.0`, 8)]).to.deep.equal([7, null]);
    const nodes = await Promise.all(
      Object.keys(contents).map(async (version, at) => {
        const node = await hawser.registerNode(`own-${at}.example.org`);
        await assign(hawser, node, 'own', { version });
        return node;
      }),
    );
    const ports = () => Promise.all(nodes.map(pullParameters));
    expect(await ports()).to.deep.equal(Array(2).fill('parameters:\n  port: 8\n'));
    await save(`${ABOVE}.0.0`, 9);
    await save(`${ABOVE.slice(0, -1)}9.1.0`, 10);
    expect(await ports()).to.deep.equal(['parameters:\n  port: 9\n', 'parameters:\n  port: 10\n']);
    expect(await member(`${set}/majors`, 'majorVersion')).to.deep.equal([null, null, null, 7]);
    expect(await member(`${set}/majors`, 'latestVersion')).to.deep.equal([
      ...[`${ABOVE.slice(0, -1)}9.1.0`, `${ABOVE}.0.0`, `${BEYOND}.0.0`, '7.0.0'],
    ]);
    expect((await ok(200, hawser.admin.get(`${set}/majors/${BEYOND}`))).version).to.equal(`${BEYOND}.0.0`);
    await ok(404, hawser.admin.get(`${set}/majors/${ABOVE}0`));
  });
});
