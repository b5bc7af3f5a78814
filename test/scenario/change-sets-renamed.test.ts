// full: SQLite
/** Change sets beside scopes that get other names: who has edited a draft is known still, and no other file is meant by them. */

import { expect } from 'chai';
import { proposed, setOf, unprotected } from '../support/change-sets.ts';
import { CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationId, saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, SCOPE_TYPES } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const DOCUMENT = '$schema: https://aka.ms/dsc/schemas/v3/bundled/config/document.json\nresources: []\n';

describe('a change set, when a scope gets another name', () => {
  const hawser = started(startHawser);
  let type: string;
  let values: Record<'berlin' | 'rome', string>;
  before(async () => {
    type = await createScopeType(hawser, 'Site');
    const [berlin, rome] = [
      await createScopeValue(hawser, type, 'berlin'),
      await createScopeValue(hawser, type, 'rome'),
    ];
    values = { berlin, rome };
  });

  const rename = (id: string, value: string) =>
    ok(200, hawser.admin.put(`${SCOPE_TYPES}/${type}/values/${id}`, { value }));
  const renameType = (name: string) => ok(200, hawser.admin.put(`${SCOPE_TYPES}/${type}`, { name }));
  let isSwapped = false;
  const swap = async () => {
    const [one, other] = isSwapped ? ['rome', 'berlin'] : ['berlin', 'rome'];
    await rename(values.berlin, 'elsewhere');
    await rename(values.rome, one ?? '');
    await rename(values.berlin, other ?? '');
    isSwapped = !isSwapped;
  };
  const person = (username: string, name: string) =>
    makeUser(hawser, {
      ...{ username, permissions: ['nodes.read'] },
      grants: (['configuration', 'parameters'] as const).map((on) => ({ on, name, level: 'Modify' })),
    });
  const protectByOne = (name: string) =>
    ok(
      200,
      hawser.admin.put(`${CONFIGURATIONS}/${name}/settings`, { protection: unprotected({ approvals: 1 }) }),
    );

  it('is not approved by who edited its draft under the name of before, but by who edited another one of that name', async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: DOCUMENT } });
    const [ann, bob, eve] = [
      await person('ann', 'web'),
      await person('bob', 'web'),
      await person('eve', 'web'),
    ];
    await protectByOne('web');
    const files = `/api/v1/parameters/${type}/${await configurationId(hawser.admin, 'web')}`;
    const save = (who: typeof ann, scopeValue: string, n: number) =>
      who.put(files, { scopeValue, version: '1.0.0', content: `parameters: {n: ${n}}\n` });
    await ok(201, save(ann, 'berlin', 1));
    await ok(200, save(bob, 'berlin', 2));
    await ok(200, save(ann, 'berlin', 3));
    await ok(201, save(ann, 'rome', 4));
    await ok(200, save(eve, 'rome', 5));
    await ok(200, save(ann, 'rome', 6));
    await swap();
    await renameType('Place');
    // What bob has edited is called rome now, and what eve has edited berlin.
    const set = await proposed(ann, [
      {
        ...{ kind: 'PublishParameters', configurationName: 'web', scopeTypeName: 'Place' },
        ...{ scopeValue: 'rome', version: '1.0.0' },
      },
    ]);
    const approve = (who: typeof ann) => who.post(`${setOf(set)}/approve`, { digest: set.digest });
    await expectProblem(approve(bob), 409, 'same_person');
    expect((await ok(200, approve(eve))).protection[0].missing).to.equal(0);
    await renameType('Site');
    await swap();
  });

  it('has another digest once the names in it mean another file that would be restored or withdrawn', async () => {
    await publishConfiguration(hawser.admin, 'db', { '1.0.0': { [MAIN]: DOCUMENT } });
    const files = `/api/v1/parameters/${type}/${await configurationId(hawser.admin, 'db')}/versions`;
    for (const [value, n] of [
      ['berlin', 1],
      ['rome', 2],
    ] as const)
      for (const [version, isWithdrawn] of [
        ['1.0.0', true],
        ['1.1.0', false],
      ] as const) {
        const content = `parameters: {n: ${n}}\n`;
        await saveParameters(hawser, { configuration: 'db', scopeType: 'Site', value, version, content });
        if (isWithdrawn)
          await ok(
            200,
            hawser.admin.put(`${files}/${version}/withdraw?scopeValue=${value}`, { reason: 'no' }),
          );
      }
    const file = { configurationName: 'db', scopeTypeName: 'Site', scopeValue: 'berlin' };
    const sets = [
      await proposed(hawser.admin, [{ kind: 'RestoreParameters', ...file, version: '1.0.0' }]),
      await proposed(hawser.admin, [
        { kind: 'WithdrawParameters', ...file, version: '1.1.0', reason: 'too old' },
      ]),
    ];
    await swap();
    for (const set of sets) {
      const apply = hawser.admin.post(`${setOf(set)}/apply`, { digest: set.digest });
      await expectProblem(apply, 412, 'precondition_failed');
    }
    const listed: { scopeValue: string; version: string; withdrawn: object | null }[] = await ok(
      200,
      hawser.admin.get(`${CONFIGURATIONS}/db/parameter-files`),
    );
    expect(listed.filter(({ withdrawn }) => withdrawn !== null).map(({ version }) => version)).to.deep.equal([
      ...['1.0.0', '1.0.0'],
    ]);
  });
});
