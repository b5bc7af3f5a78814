// everyday: SQLite
import { expect } from 'chai';
import { addVersion, CONFIGURATIONS, create, MAIN, versionsOf } from '../support/configurations.ts';
import { save } from '../support/draft-files.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, startHawser } from '../support/hawser.ts';
import { beginAuthor, DRAFT } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { makeZip } from '../support/zip.ts';

const LITTER = ['__MACOSX/._main.dsc.yaml', '.DS_Store', 'sub/Thumbs.db', 'sub/desktop.ini'];
const KEPT = [MAIN, 'sub/real.txt'];

describe('what macOS and Windows leave in folders', () => {
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));

  const form = (paths: readonly string[]) => ({
    files: Object.fromEntries(paths.map((path) => [path, 'x'])),
  });
  const archive = (paths: readonly string[]) => ({
    archive: makeZip(paths.map((name) => ({ name, content: 'x' }))),
  });
  const filesOf = async (name: string, version: string) => {
    const { files } = await ok(200, hawser.admin.get(`${versionsOf(name)}/${version}`));
    return files.map(({ path }: { path: string }) => path);
  };

  for (const [what, made] of Object.entries({ form, archive }))
    it(`is left out of an upload as ${what}, whose answer names it`, async () => {
      const [all, name] = [made([...LITTER, ...KEPT]), `left-out-${what}`];
      const first = await ok(201, create(hawser.admin, name, {}, all));
      expect(first).to.deep.include({ name, ignoredFiles: LITTER });
      const second = await ok(201, addVersion(hawser.admin, name, { version: '1.1.0' }, all));
      expect(second).to.deep.include({ fileCount: KEPT.length, ignoredFiles: LITTER });
      const replaced = hawser.admin.call('PUT', `${versionsOf(name)}/1.1.0`, { form: all });
      expect(await ok(200, replaced)).to.deep.include({ version: '1.1.0', ignoredFiles: LITTER });
      for (const version of ['1.0.0', '1.1.0']) expect(await filesOf(name, version)).to.have.members(KEPT);
      const checked = await ok(200, hawser.admin.upload(`${CONFIGURATIONS}/${name}/check`, all));
      expect(checked.ignoredFiles).to.deep.equal(LITTER);
    });

  it('is named in the answers of uploads alone, also where nothing was left out', async () => {
    const name = 'clean';
    expect(await ok(201, create(hawser.admin, name, {}, form(KEPT)))).to.deep.include({ ignoredFiles: [] });
    expect(await ok(201, addVersion(hawser.admin, name, {}, form(KEPT)))).to.deep.include({
      ignoredFiles: [],
    });
    const copied = hawser.admin.post(versionsOf(name), { from: '1.0.0' });
    expect(await ok(201, copied)).to.deep.include({ ignoredFiles: [] });
    const others = [CONFIGURATIONS, versionsOf(name)].map(
      (path) => `${path}/${path === CONFIGURATIONS ? name : '1.0.0'}`,
    );
    for (const path of others)
      expect(await ok(200, hawser.admin.get(path)), path).to.not.have.property('ignoredFiles');
  });

  it('is stored where its author saves it as a file or pushes it', async () => {
    const token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
    const author = await beginAuthor(hawser, client, token);
    await author.commit({ 'sub/Thumbs.db': 'x' });
    const { code, output } = await author.push(`HEAD:${DRAFT}/1.1.0`);
    expect(code, output).to.equal(0);
    const saved = await ok(201, save(hawser.admin, [author.name, '1.1.0', '.DS_Store'], 'x'));
    expect(saved).to.not.have.property('ignoredFiles');
    expect(await filesOf(author.name, '1.1.0')).to.have.members([MAIN, '.DS_Store', 'sub/Thumbs.db']);
  });
});
