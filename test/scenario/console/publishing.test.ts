// full: SQLite
/** From a draft to a published version: editing, reviewing and publishing, also where two people do so at once. */

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axe } from '../../support/axe.ts';
import { addVersion, create, fileOf, publish, versionsOf } from '../../support/configurations.ts';
import { REFUSED_REQUEST, ready, startConsole } from '../../support/console.ts';
import { button, refusal, said, visit } from '../../support/console-parts.ts';
import { save } from '../../support/draft-files.ts';
import { moveTo } from '../../support/keyboard.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const ENTRY = '$schema: x\nparameters:\n  port:\n    type: int\n    defaultValue: 80\nresources: []\n';
const UNREADABLE = `${ENTRY}  - name: web\n    typo: 1\n`.replace('[]', '');
const WITHOUT_PORT = '$schema: x\nparameters: {}\nresources: []\n';

describe('publishing in the console', function () {
  this.timeout(240_000);
  const shown = started(() => startConsole({ nodes: 40 }));

  /** A configuration with one published version and a draft of two files. */
  async function makeDraft(name: string, draft: Record<string, string> = {}): Promise<void> {
    const { admin } = shown.hawser;
    const files = { 'main.dsc.yaml': ENTRY, 'notes.txt': 'one\ntwo\n' };
    await ok(201, create(admin, name, { version: '1.0.0' }, { files }));
    await ok(200, publish(admin, name, '1.0.0'));
    await ok(201, addVersion(admin, name, { version: '1.1.0' }, { files: { ...files, ...draft } }));
  }
  const checkDocuments = (checks: 'Strict' | 'Warn', name: string) =>
    shown.hawser.admin.put(`/api/v1/configurations/${name}/settings`, { documentChecks: checks });
  const listOf = (within: Pick<Page, 'getByRole'>, name: 'Errors' | 'Warnings') =>
    within.getByRole('list', { name }).getByRole('listitem');
  const box = (page: Page, path: string) => page.getByRole('textbox', { name: path, exact: true });
  const textOf = async (name: string, path: string, version = '1.1.0') =>
    (await shown.hawser.admin.get(fileOf(name, version, path))).text;

  it('leads from a configuration to a published version by the keyboard alone', async () => {
    const { page, close } = await visit(shown, '/ui/configurations/database');
    const drafts = page.getByRole('table', { name: 'Drafts' });
    const press = async (target: Parameters<typeof moveTo>[1]) => {
      await moveTo(page, target);
      await page.keyboard.press('Enter');
    };
    await press(drafts.getByRole('link', { name: 'Edit' }));
    await page.getByRole('heading', { level: 1, name: 'database 2.1.0' }).waitFor();
    await press(page.getByRole('link', { name: 'postgresql.conf' }));
    await moveTo(page, box(page, 'postgresql.conf'));
    await page.keyboard.press('Control+End');
    await page.keyboard.type('work_mem = 64MB');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await press(button(page, 'Save'));
    await said(page, 'postgresql.conf is saved.');
    await press(page.getByRole('link', { name: 'Review', exact: true }));
    await page.getByRole('heading', { level: 1, name: 'Review database 2.1.0' }).waitFor();
    const changed = page.getByRole('table', { name: 'postgresql.conf' });
    await changed.locator('ins').filter({ hasText: 'work_mem = 64MB' }).waitFor();
    await press(button(page, 'Preview impact'));
    await said(page, 'would change');
    await moveTo(page, page.getByLabel('Message'));
    await page.keyboard.type('Queries may use more memory.');
    await press(button(page, 'Publish 2.1.0'));
    await page.waitForURL('**/ui/configurations/database/versions/2.1.0');
    await said(page, 'database 2.1.0 is published.');
    const version = await ok(200, shown.hawser.admin.get(`${versionsOf('database')}/2.1.0`));
    expect(version).to.include({ status: 'Published', message: 'Queries may use more memory.' });
    expect(await textOf('database', 'postgresql.conf', '2.1.0')).to.match(/\nwork_mem = 64MB$/);
    await close();
  });

  it('shows whom a draft touches, also after a reload', async () => {
    const { page, close } = await visit(shown, '/ui/configurations/shop/drafts/2.2.0/review');
    await button(page, 'Preview impact').click();
    const group = page
      .getByRole('list', { name: /^Groups/ })
      .getByRole('listitem')
      .first();
    await group.getByText('Changed').waitFor();
    const verdict = await page.getByRole('status').filter({ hasText: 'would change' }).innerText();
    expect(page.url()).to.match(/\?preview=[0-9a-f-]{36}$/);
    await page.reload();
    await ready(page);
    expect(await page.getByRole('status').filter({ hasText: 'would change' }).innerText()).to.equal(verdict);
    await group.getByText(/modified files/).click();
    await group.getByRole('heading', { name: /open-port\.sh$/ }).scrollIntoViewIfNeeded();
    await group
      .getByRole('table', { name: /open-port\.sh$/ })
      .locator('ins')
      .first()
      .waitFor();
    await close();
  });

  it('shows both sides where somebody else has saved the file, and loses nothing', async () => {
    await makeDraft('contested');
    const { page, close } = await visit(shown, '/ui/configurations/contested/drafts/1.1.0?file=notes.txt', {
      allows: REFUSED_REQUEST,
    });
    await box(page, 'notes.txt').fill('one\nmine\n');
    await ok(200, save(shown.hawser.admin, ['contested', '1.1.0', 'notes.txt'], 'one\ntheirs\n'));
    await button(page, 'Save').click();
    const both = page.getByRole('table', { name: 'notes.txt' });
    await both.locator('del').filter({ hasText: 'theirs' }).waitFor();
    await both.locator('ins').filter({ hasText: 'mine' }).waitFor();
    expect(await page.getByRole('alert').getAttribute('data-code')).to.equal('precondition_failed');
    await button(page, 'Go on editing').click();
    expect(await box(page, 'notes.txt').innerText()).to.match(/^one\nmine/);
    await page.keyboard.press('Control+S');
    await button(page, 'Keep mine').click();
    await said(page, 'notes.txt is saved.');
    expect(await textOf('contested', 'notes.txt')).to.equal('one\nmine\n');
    await ok(200, save(shown.hawser.admin, ['contested', '1.1.0', 'notes.txt'], 'one\nlater\n'));
    await box(page, 'notes.txt').fill('one\nforgotten\n');
    await button(page, 'Save').click();
    await button(page, 'Take theirs').click();
    await box(page, 'notes.txt').getByText('later').waitFor();
    await close();
  });

  it('says that somebody has published the draft, and keeps what was typed', async () => {
    await makeDraft('overtaken', { 'notes.txt': 'three\n' });
    const { page, close } = await visit(shown, '/ui/configurations/overtaken/drafts/1.1.0?file=notes.txt', {
      allows: REFUSED_REQUEST,
    });
    await box(page, 'notes.txt').fill('too late\n');
    await ok(200, publish(shown.hawser.admin, 'overtaken', '1.1.0'));
    await button(page, 'Save').click();
    await page.getByRole('link', { name: 'Show overtaken 1.1.0' }).waitFor();
    expect(await box(page, 'notes.txt').innerText()).to.match(/^too late/);
    expect(await button(page, 'Save').isDisabled()).to.equal(true);
    await close();
  });

  it('keeps what was typed while other files and pages are shown, and asks before it goes', async () => {
    await makeDraft('kept');
    const { page, close } = await visit(shown, '/ui/configurations/kept/drafts/1.1.0?file=notes.txt');
    await box(page, 'notes.txt').fill('typed\n');
    await page.getByRole('link', { name: 'main.dsc.yaml', exact: true }).click();
    await box(page, 'main.dsc.yaml').waitFor();
    await page.getByRole('link', { name: 'Review', exact: true }).click();
    await page.getByText('notes.txt has changes that are not saved.').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'notes.txt' }).click();
    await box(page, 'notes.txt').getByText('typed').waitFor();
    const asked = page.waitForEvent('dialog');
    const reloaded = page.reload();
    await (await asked).accept();
    await reloaded;
    await box(page, 'notes.txt').getByText('two').waitFor();
    await close();
  });

  it('makes, uploads and deletes files, and says which the server refuses', async () => {
    await makeDraft('filled');
    const { page, close } = await visit(shown, '/ui/configurations/filled/drafts/1.1.0', {
      allows: REFUSED_REQUEST,
    });
    await button(page, 'New file').click();
    await page.getByLabel('Path').fill('modules/a b.yaml');
    await button(page, 'Create').click();
    await box(page, 'modules/a b.yaml').fill('$schema: x\nresources: []\n');
    await button(page, 'Save').click();
    await said(page, 'modules/a b.yaml is saved.');
    await button(page, 'Delete file').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Delete file' }).click();
    await said(page, 'modules/a b.yaml is deleted.');
    await button(page, 'Upload').click();
    await dialog.getByLabel('Choose files').setInputFiles([
      { name: 'logo.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2]) },
      { name: 'parameters.yaml', mimeType: 'text/yaml', buffer: Buffer.from('a: 1\n') },
    ]);
    await dialog.getByRole('button', { name: 'Upload' }).click();
    const refused = dialog.getByRole('list', { name: 'Files that were refused' });
    await refused.getByText('reserved_path').waitFor();
    await button(page, 'Cancel').click();
    const files = page.getByRole('table', { name: 'Files' });
    await files.getByRole('link', { name: 'logo.bin' }).click();
    await page.getByText('This is a binary file').waitFor();
    expect(await files.getByRole('rowheader').allInnerTexts()).to.deep.equal([
      'logo.bin',
      'main.dsc.yaml',
      'notes.txt',
    ]);
    await close();
  });

  it('says what stands in the way of publishing', async () => {
    await makeDraft('blocked', { 'main.dsc.yaml': WITHOUT_PORT });
    const { page, close } = await visit(shown, '/ui/configurations/blocked/drafts/1.1.0/review');
    await refusal(page, 'incompatible_parameters').waitFor();
    await page
      .getByRole('table', { name: 'Breaking changes' })
      .getByRole('rowheader', { name: 'port' })
      .waitFor();
    expect(await button(page, 'Publish 1.1.0').isDisabled()).to.equal(true);
    await close();
  });

  it('marks in the editor what dsc cannot read, Errors apart from Warnings, and goes there with F8', async () => {
    await makeDraft('typed');
    const { page, close } = await visit(shown, '/ui/configurations/typed/drafts/1.1.0?file=main.dsc.yaml');
    const entry = box(page, 'main.dsc.yaml');
    await page.getByText('dsc can read it', { exact: true }).waitFor();
    await entry.fill(UNREADABLE);
    const found = refusal(page, 'document_unreadable');
    await found.getByText('There are 2 problems.').waitFor();
    expect(await listOf(found, 'Errors').innerText()).to.match(/^Error\s+main\.dsc\.yaml:7:5 .*"type"/s);
    expect(await listOf(found, 'Warnings').innerText()).to.match(/^Warning\s+main\.dsc\.yaml:8:5 .*"typo"/s);
    expect(await page.locator('.cm-lint-marker-error, .cm-lint-marker-warning').count()).to.equal(2);
    expect(await axe(page)).to.deep.equal([]);
    await entry.focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('F8');
    await page.keyboard.type('type: Test/Echo\n    ');
    await listOf(page, 'Errors').waitFor({ state: 'detached' });
    await said(page, 'main.dsc.yaml:9:5');
    expect(await axe(page)).to.deep.equal([]);
    await entry.fill('resources: [');
    await listOf(found, 'Errors').first().waitFor();
    await page.getByRole('link', { name: 'notes.txt' }).click();
    await box(page, 'notes.txt').waitFor();
    expect(await page.getByRole('region', { name: 'Validation' }).count()).to.equal(0);
    expect(await textOf('typed', 'main.dsc.yaml'), 'nothing is stored').to.equal(ENTRY);
    await close();
  });

  it('shows in a review what dsc cannot read, and publishes that only where it may be', async () => {
    await makeDraft('unread', { 'main.dsc.yaml': UNREADABLE });
    await ok(200, checkDocuments('Strict', 'unread'));
    const { page, close } = await visit(shown, '/ui/configurations/unread/drafts/1.1.0/review');
    const blocker = refusal(page, 'document_unreadable');
    await listOf(blocker, 'Errors').getByText('main.dsc.yaml:7:5').waitFor();
    expect(await listOf(page, 'Errors').count(), 'it is said once').to.equal(1);
    await listOf(page, 'Warnings').getByText('main.dsc.yaml:8:5').waitFor();
    expect(await page.getByText(/be published/).count()).to.equal(0);
    expect(await button(page, 'Publish 1.1.0').isDisabled()).to.equal(true);
    expect(await axe(page)).to.deep.equal([]);
    await ok(200, checkDocuments('Warn', 'unread'));
    await page.reload();
    await page.getByText('It will be published although dsc cannot read it').waitFor();
    expect(await page.getByText('Can be published').count()).to.equal(0);
    await listOf(page, 'Errors').getByText('main.dsc.yaml:7:5').waitFor();
    await button(page, 'Preview impact').click();
    const impact = page.locator('#impact');
    await impact.getByText('In unread 1.1.0:').waitFor();
    await listOf(impact, 'Errors').getByText('main.dsc.yaml:7:5').waitFor();
    expect(await axe(page)).to.deep.equal([]);
    await button(page, 'Publish 1.1.0').click();
    await page.waitForURL('**/ui/configurations/unread/versions/1.1.0');
    await listOf(page, 'Warnings').getByText('main.dsc.yaml:8:5').waitFor();
    await listOf(page, 'Errors').getByText('main.dsc.yaml:7:5').waitFor();
    expect(await axe(page)).to.deep.equal([]);
    await close();
  });

  it('says of a version what is found in it, and when that cannot be read', async () => {
    await makeDraft('plain');
    const { page, close } = await visit(shown, '/ui/configurations/plain/versions/1.0.0');
    const facts = page.locator('dl.facts').first();
    expect(await facts.innerText()).to.match(/Findings\s+none/);
    await page.route('**/api/v1/configurations/plain/versions/1.0.0', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), findings: null } });
    });
    await page.reload();
    await facts.getByText('They cannot be read at the moment.').waitFor();
    expect(await facts.innerText()).not.to.match(/Findings\s+none/);
    await close();
  });

  it('publishes nothing that was not reviewed', async () => {
    await makeDraft('moving');
    const { page, close } = await visit(shown, '/ui/configurations/moving/drafts/1.1.0/review', {
      allows: REFUSED_REQUEST,
    });
    await ok(200, save(shown.hawser.admin, ['moving', '1.1.0', 'notes.txt'], 'sneaked in\n'));
    await page.getByLabel('Message').fill('As reviewed.');
    await button(page, 'Publish 1.1.0').click();
    await refusal(page, 'precondition_failed').waitFor();
    expect((await ok(200, shown.hawser.admin.get(`${versionsOf('moving')}/1.1.0`))).status).to.equal('Draft');
    expect(await page.getByLabel('Message').inputValue()).to.equal('As reviewed.');
    await button(page, 'Show the changes as they are now').first().click();
    await page
      .getByRole('table', { name: 'notes.txt' })
      .locator('ins')
      .filter({ hasText: 'sneaked in' })
      .waitFor();
    await button(page, 'Publish 1.1.0').click();
    await page.waitForURL('**/ui/configurations/moving/versions/1.1.0');
    await close();
  });

  it('is read-only for those who may only read', async () => {
    await makeDraft('seen');
    const { id: principalId } = shown.site.users.operator;
    const grant = { principalType: 'User', principalId, level: 'Read' };
    await ok(204, shown.hawser.admin.put('/api/v1/configurations/seen/permissions', grant));
    const { page, close } = await visit(shown, '/ui/configurations/seen/drafts/1.1.0?file=notes.txt', {
      user: 'operator',
    });
    await page.getByText('That needs Modify on it; you have Read.').first().waitFor();
    expect(await box(page, 'notes.txt').getAttribute('aria-readonly')).to.equal('true');
    expect(await button(page, 'Save').isDisabled()).to.equal(true);
    expect(await button(page, 'Delete draft').count()).to.equal(0);
    await page.getByRole('link', { name: 'Review', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Review seen 1.1.0' }).waitFor();
    await button(page, 'Publish 1.1.0').waitFor();
    expect(await button(page, 'Publish 1.1.0').isDisabled()).to.equal(true);
    await close();
  });
});
