// everyday: SQLite; full: PostgreSQL
/** Who may sign the versions of a configuration: how it is set, by whom, and that of what is protected a change set alone says so. */

import { expect } from 'chai';
import { proposed, SETS, setOf, unprotected } from '../support/change-sets.ts';
import type { Client } from '../support/client.ts';
import { CONFIGURATIONS, create } from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { preview } from '../support/previews.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { newSshKey } from '../support/ssh-keys.ts';
import { started } from '../support/started.ts';

const settingsOf = (name: string) => `${CONFIGURATIONS}/${name}/settings`;
const NOBODY = { require: 'Off', allowedSigners: '' };
const alice = `alice@example.org ${newSshKey().publicLine}\n`;
const bob = `# who went\r\n\r\nbob@example.org namespaces="git" ${newSshKey().publicLine} laptop\r\n`;

describe('who may sign versions', () => {
  const hawser = started(startHawser);
  let admin: Client;
  const read = async (name: string) => {
    const { unsigned: _count, ...signing } = (await ok(200, admin.get(settingsOf(name)))).signing;
    return signing;
  };
  const put = (name: string, signing: unknown) => admin.put(settingsOf(name), { signing });

  before(() => {
    admin = hawser.admin;
  });

  it('is nobody by default, is set as a whole by holders of Manage, and stays where it is not named', async () => {
    await ok(201, create(admin, 'plain'));
    expect(await read('plain')).to.deep.equal(NOBODY);
    for (const wrong of [{ require: 'Off' }, { allowedSigners: '' }, { ...NOBODY, require: 'Always' }, 1])
      await expectInvalid(put('plain', wrong));
    const signing = { require: 'Version', allowedSigners: alice + bob };
    const answer = await ok(200, put('plain', signing));
    expect(answer.signing).to.deep.include(signing);
    await ok(200, admin.put(settingsOf('plain'), { parameterValidationMode: 'Warn' }));
    expect(await read('plain')).to.deep.equal(signing);
    const grants = [{ on: 'configuration' as const, name: 'plain', level: 'Modify' as const }];
    const author = await makeUser(hawser, { username: 'author', grants });
    await expectProblem(author.put(settingsOf('plain'), { signing: NOBODY }), 403, 'forbidden');
    const { details } = (await ok(200, admin.get('/api/v1/audit?action=configuration.settings_changed'))).at(
      -1,
    );
    expect(details).to.deep.include({ name: 'plain', signing: { from: NOBODY, to: signing } });
    await ok(204, admin.delete(settingsOf('plain')));
    expect(await read('plain')).to.deep.equal(NOBODY);
  });

  it('is refused with the line at fault, and Version without anybody', async () => {
    await ok(201, create(admin, 'faulty'));
    const [, blob = ''] = newSshKey().publicLine.split(' ');
    const lines: [text: string, line: number | undefined][] = [
      [`${alice}not a line\n`, 2],
      [`${alice}\n# a\na@example.org cert-authority ssh-ed25519 ${blob}\n`, 4],
      [`a@example.org sk-ssh-ed25519@openssh.com ${blob}\n`, 1],
      [`a@example.org ssh-dss ${blob}\n`, 1],
      [`a@example.org ssh-ed25519 AAAA\n`, 1],
      [`a@example.org valid-after="soon" ssh-ed25519 ${blob}\n`, 1],
      [`a@example.org unknown-option ssh-ed25519 ${blob}\n`, 1],
    ];
    for (const [allowedSigners, line] of lines) {
      const { json } = await expectInvalid(put('faulty', { require: 'Off', allowedSigners }));
      const [error] = json.errors;
      expect(error, allowedSigners).to.include({
        path: '/signing/allowedSigners',
        code: 'invalid_signers',
        line,
      });
    }
    for (const [require, allowedSigners] of [
      ['Version', '# nobody\n'],
      ['Off', '\n'.repeat(1_001)],
      ['Off', `#${'x'.repeat(64 * 1024)}`],
    ]) {
      const { json } = await expectInvalid(put('faulty', { require, allowedSigners }));
      expect(json.errors[0]).to.include({ path: '/signing/allowedSigners', code: 'invalid_signers' });
    }
    const deed = { kind: 'SetSettings', configurationName: 'faulty' };
    const bad = { ...deed, signing: { require: 'Off', allowedSigners: 'x' } };
    const { json } = await expectInvalid(admin.post(SETS, { title: 't', deeds: [bad] }));
    expect(json.errors[0]).to.include({
      path: '/deeds/0/signing/allowedSigners',
      code: 'invalid_signers',
      line: 1,
    });
    await expectInvalid(admin.post(SETS, { title: 't', deeds: [deed] }));
    expect(await read('faulty')).to.deep.equal(NOBODY);
  });

  it('is said of what is protected by a set alone, which is previewed, applied and taken back', async () => {
    await ok(201, create(admin, 'kept'));
    const before = { require: 'Off', allowedSigners: bob };
    await ok(200, put('kept', before));
    await ok(200, admin.put(settingsOf('kept'), { protection: unprotected({ byChangeSetOnly: true }) }));
    const signing = { require: 'Version', allowedSigners: alice };
    for (const wanted of [signing, before])
      await expectProblem(put('kept', wanted), 409, 'change_set_required');
    await expectProblem(admin.delete(settingsOf('kept')), 409, 'change_set_required');
    await ok(200, admin.put(settingsOf('kept'), { documentChecks: 'Warn' }));
    const deed = { kind: 'SetSettings', configurationName: 'kept', signing, variables: null };
    const shown = await preview(admin, [deed]);
    expect(shown.changes).to.deep.equal([deed]);
    expect(await read('kept')).to.deep.equal(before);
    const set = await proposed(admin, [deed]);
    expect(set.deeds).to.deep.equal([deed]);
    await ok(200, admin.post(`${setOf(set)}/apply`, { digest: set.digest }));
    expect(await read('kept')).to.deep.equal(signing);
    const back = await ok(201, admin.post(`${setOf(set)}/revert`));
    expect(back.deeds).to.deep.equal([{ ...deed, signing: before }]);
    await ok(200, admin.post(`${setOf(back)}/apply`, { digest: back.digest }));
    expect(await read('kept')).to.deep.equal(before);
    const grants = [{ on: 'configuration' as const, name: 'kept', level: 'Modify' as const }];
    const author = await makeUser(hawser, { username: 'modifier', permissions: ['nodes.read'], grants });
    const theirs = await proposed(author, [deed]);
    const asked = { digest: theirs.digest };
    await expectProblem(author.post(`${setOf(theirs)}/apply`, asked), 403, 'forbidden');
  });
});
