// full: SQLite
import { expect } from 'chai';
import type { Form, Reply } from '../support/client.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { expectInvalid, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const DEFAULT_TYPE = '00000000-0000-0000-0000-000000000001';
const files = { 'main.dsc.yaml': '$schema: x\nresources: []\n' };

describe('the message of a version says why it was made', () => {
  const hawser = started(startHawser);
  let outside: Outside;
  before(async () => {
    outside = new Outside(hawser, 'web');
    const fields = { name: 'web', message: '\r\n\nFirst line.\r\n\r\nSecond paragraph.\n\n' };
    await ok(201, hawser.admin.upload('/api/v1/configurations', { fields, files }));
  });

  const versions = '/api/v1/configurations/web/versions';
  const messageOf = async (version: string): Promise<unknown> =>
    (await hawser.admin.get(`${versions}/${version}`)).json['message'];
  const replace = (version: string, form: Form) =>
    hawser.admin.call('PUT', `${versions}/${version}`, { form });

  it('as the body of the commit, without CRs and blank lines around it, under a subject', async () => {
    expect(await messageOf('1.0.0')).to.equal('First line.\n\nSecond paragraph.');
    const log = outside.git('log', '-1', '--format=%s%n--%n%b', 'draft/1.0.0');
    expect(log).to.match(
      /^web 1\.0\.0\n--\nFirst line\.\n\nSecond paragraph\.\n\nEntry-Point: main\.dsc\.yaml\n/,
    );
  });

  it('and is kept when the draft is given other files without one', async () => {
    await ok(200, replace('1.0.0', { files: { 'main.dsc.yaml': '$schema: x\nresources: [] # b\n' } }));
    expect(await messageOf('1.0.0')).to.equal('First line.\n\nSecond paragraph.');
    await ok(200, replace('1.0.0', { fields: { message: 'Better.' }, files }));
    expect(await messageOf('1.0.0')).to.equal('Better.');
  });

  it('and of the tag, once it was published with one, else of the commit', async () => {
    const why = 'The address changed.\n\nEntry-Point: elsewhere.yaml';
    const published = await ok(200, hawser.admin.put(`${versions}/1.0.0/publish`, { message: why }));
    expect(published).to.include({ message: why, entryPoint: 'main.dsc.yaml' });
    expect(outside.git('for-each-ref', '--format=%(contents:subject)', 'refs/tags')).to.equal('web 1.0.0');
    await ok(201, hawser.admin.upload(versions, { fields: { message: 'Of the commit.' }, files }));
    expect((await ok(200, hawser.admin.put(`${versions}/1.0.1/publish`)))['message']).to.equal(
      'Of the commit.',
    );
    await ok(201, hawser.admin.upload(versions, { files }));
    expect((await ok(200, hawser.admin.put(`${versions}/1.0.2/publish`, {})))['message']).to.equal(null);
    await hawser.restart();
    expect(await Promise.all(['1.0.0', '1.0.1', '1.0.2'].map(messageOf))).to.deep.equal([
      why,
      'Of the commit.',
      null,
    ]);
  });

  itOnSqlite('and that of a tag of stock git, as it stands there', async () => {
    outside.git('tag', '-a', 'v2.0.0', '-m', 'By hand', '-m', 'In a hurry.', outside.commit());
    await eventually(async () => expect(await messageOf('2.0.0')).to.equal('By hand\n\nIn a hurry.'));
  });

  it('for composites alike', async () => {
    const composites = '/api/v1/composite-configurations';
    const { admin } = hawser;
    await ok(201, admin.post(composites, { name: 'site' }));
    await ok(201, admin.post(`${composites}/site/versions`, { version: '1.0.0', message: 'Both.' }));
    const item = { childConfigurationName: 'web' };
    await ok(201, admin.post(`${composites}/site/versions/1.0.0/children`, item));
    const path = `${composites}/site/versions/1.0.0`;
    expect((await admin.get(path)).json['message']).to.equal('Both.');
    await ok(200, admin.put(`${path}/publish`, { message: 'Now.' }));
    expect((await admin.get(path)).json['message']).to.equal('Now.');
  });

  it('for parameter files, where the branch of the scope type tells it', async () => {
    const { id } = (await hawser.admin.get('/api/v1/configurations/web')).json;
    const path = `/api/v1/parameters/${DEFAULT_TYPE}/${id}`;
    const file = { version: '1.0.0', content: 'parameters: {port: 1}\n', message: 'A port.' };
    await ok(201, hawser.admin.put(path, file));
    await ok(200, hawser.admin.put(path, { ...file, message: 'The port.' }));
    await ok(200, hawser.admin.put(`${path}/versions/1.0.0/publish`));
    const parameters = new Outside(hawser, 'web', 'parameters');
    await eventually(async () =>
      expect(parameters.git('log', '--format=%b', 'Default')).to.match(/^The port\.\n\nParameter-Scope/),
    );
    expect(parameters.git('log', '-1', '--format=%s', 'Default/v1.0.0')).to.equal('web Default 1.0.0');
  });

  const REFUSED: [string, unknown][] = [
    ['is longer than 10,000 characters', { message: 'x'.repeat(10_001) }],
    ['is no text', { message: 7 }],
    ['has a line that git takes for a signature', { message: 'a\n-----BEGIN PGP SIGNATURE-----\nb' }],
    ['has another name', { reason: 'x' }],
  ];
  for (const [what, body] of REFUSED) {
    it(`and is refused when it ${what}, before anything is published`, async () => {
      const version = '1.5.0';
      await hawser.admin.upload(versions, { fields: { version }, files });
      const refs = outside.git('for-each-ref');
      const reply: Reply = await hawser.admin.put(`${versions}/${version}/publish`, body);
      await expectInvalid(reply);
      expect(outside.git('for-each-ref')).to.equal(refs);
    });
  }
});
