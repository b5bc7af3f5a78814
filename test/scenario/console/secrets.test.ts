// full: SQLite
/** Secrets of parameters in the console: set without being typed into the text, revealed with a reason, and shown nowhere else. */

import { expect } from 'chai';
import type { Page, Request } from 'playwright-core';
import { auditEntries } from '../../support/audit.ts';
import { axe } from '../../support/axe.ts';
import { MAIN } from '../../support/configurations.ts';
import { REFUSED_REQUEST, startConsole } from '../../support/console.ts';
import { button, refusal, said, visit } from '../../support/console-parts.ts';
import { type NodeUnderTest, publishConfiguration } from '../../support/hawser.ts';
import { assign, configurationId, pullParameters, saveParameters } from '../../support/parameter-files.ts';
import { ok } from '../../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, tagNode } from '../../support/scopes.ts';
import { runHawser } from '../../support/spawned.ts';
import { started } from '../../support/started.ts';

const TYPES =
  'pw: {type: secureString, maxLength: 40}, creds: {type: secureObject, defaultValue: {}}, port: {type: int, defaultValue: 1}';
const FILE = '/ui/configurations/shop/parameters/file?scopeTypeName=Default';
const [FIRST, SECOND, LOGIN, TYPED] = ['canary-one', 'canary-two', 'canary-login', 'canary-typed'];
const REASON = 'The database <b>moves</b>';

describe('secrets in the console', function () {
  this.timeout(240_000);
  const shown = started(() => startConsole({ nodes: null }));
  let node: NodeUnderTest;
  let series: string;

  before(async () => {
    const { hawser } = shown;
    await publishConfiguration(hawser.admin, 'shop', {
      '1.0.0': { [MAIN]: `$schema: x\nparameters: {${TYPES}}\nresources: []\n` },
    });
    series = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'shop')}`;
    node = await hawser.registerNode('db-01.example.org');
    await assign(hawser, node, 'shop');
    const content = `parameters:\n  pw: ${FIRST} # ours\n  port: 80\n`;
    await saveParameters(hawser, { configuration: 'shop', version: '1.0.0', content });
  });

  const box = (page: Page) => page.getByRole('textbox', { name: 'parameters.yaml', exact: true });
  const row = (page: Page, name: string) =>
    page.getByRole('table', { name: 'Secrets' }).getByRole('row', { name });
  const contentOf = async (version: string): Promise<string> =>
    (await ok(200, shown.hawser.admin.get(`${series}/versions/${version}`))).content;

  it('are set one by one, and what was typed goes to be encrypted and nowhere else', async () => {
    const { page, close } = await visit(shown, `${FILE}&version=1.0.0`);
    const requests: Request[] = [];
    page.on('request', (request) => requests.push(request));
    await row(page, '/parameters/pw').getByText('A secret is set').waitFor();
    await row(page, '/parameters/pw').getByRole('button', { name: 'Replace' }).click();
    const dialog = page.getByRole('dialog');
    const value = dialog.getByLabel('Value');
    expect(await value.getAttribute('type')).to.equal('password');
    expect(await value.getAttribute('autocomplete')).to.equal('new-password');
    await value.fill(SECOND);
    expect(await axe(page)).to.deep.equal([]);
    await button(dialog, 'Replace').click();
    await said(page, '/parameters/pw is in the text, encrypted.');
    await row(page, '/parameters/creds').getByRole('button', { name: 'Add member' }).click();
    await dialog.getByLabel('Member').fill('login');
    await value.fill(LOGIN);
    await button(dialog, 'Add member').click();
    await row(page, '/parameters/creds/login').getByText('A secret is set').waitFor();
    expect(await axe(page)).to.deep.equal([]);
    await button(page, 'Save').click();
    await said(page, 'The draft 1.0.1 of Default is saved.');
    const [one, other] = [SECOND, LOGIN].map((canary) =>
      requests.filter((request) => request.postData()?.includes(canary)).map((request) => request.url()),
    );
    expect(one)
      .to.deep.equal(other)
      .and.to.deep.equal([`${shown.base}${series}/encrypt`]);
    const kept = await page.evaluate<string>(
      'JSON.stringify([localStorage, sessionStorage, location.href, document.body.innerHTML])',
    );
    expect(kept).to.not.match(/canary/);
    // The one that was there already has its text still, and the comment stays.
    expect(await contentOf('1.0.1')).to.match(
      /^parameters:\n {2}creds: \{"login": "ENC\[\S+\]"\}\n {2}pw: "ENC\[\S+\]" # ours\n {2}port: 80\n$/,
    );
    const changes = page.getByRole('table', { name: 'parameters.yaml' }).first();
    await changes
      .locator('ins')
      .getByRole('img', { name: 'A secret, encrypted by the key' })
      .first()
      .waitFor();
    expect(await changes.innerText()).to.not.contain('ENC[');
    await ok(200, shown.hawser.admin.put(`${series}/versions/1.0.1/publish`));
    expect(await pullParameters(node))
      .to.include(`pw: ${SECOND}`)
      .and.to.include(`login: ${LOGIN}`);
    await close();
  });

  it('are encrypted when they are typed into the text, which then has them so', async () => {
    const { page, close } = await visit(shown, `${FILE}&version=1.1.0&new=true`);
    await box(page).fill(`parameters:\n  pw: ${TYPED}\n`);
    await row(page, '/parameters/pw').getByText('It is encrypted when you save.').waitFor();
    await button(page, 'Save').click();
    await said(page, 'The draft 1.1.0 of Default is saved.');
    await box(page).getByText('ENC[').waitFor();
    expect(await box(page).innerText()).to.not.include(TYPED);
    await page.getByText('Ctrl+S saves.').waitFor();
    expect(await page.getByText('Somebody else has saved').count()).to.equal(0);
    await row(page, '/parameters/pw').getByText('A secret is set').waitFor();
    await close();
  });

  it('are not offered to people without the permission, whom the refused bundle tells what to do', async () => {
    const { page, close } = await visit(shown, `/ui/nodes/${node.nodeId}`, { allows: REFUSED_REQUEST });
    await button(page, 'Download bundle').click();
    await refusal(page, 'secrets_in_bundle')
      .getByText('Look at the single values under Parameters')
      .waitFor();
    await page.getByRole('link', { name: 'Parameters', exact: true }).last().click();
    const dots = page.getByRole('table', { name: 'Parameters' }).getByRole('img', { name: 'A secret' });
    await dots.first().waitFor();
    expect(await page.getByRole('button', { name: 'Reveal' }).count()).to.equal(0);
    await close();
  });

  it('are revealed of each scope that gives one, also where another one overrides it', async () => {
    const { hawser } = shown;
    const allowed = await runHawser(hawser.folder, {}, ['allow-reveal', '--username', 'admin']);
    expect(allowed.code, allowed.stderr).to.equal(0);
    const type = await createScopeType(hawser, 'Environment');
    await tagNode(hawser, node.nodeId, await createScopeValue(hawser, type, 'prod'));
    await saveParameters(hawser, {
      ...{ configuration: 'shop', scopeType: 'Environment', value: 'prod', version: '1.0.0' },
      content: 'parameters:\n  creds:\n    login: canary-over\n',
    });
    const { page, close } = await visit(shown, `/ui/nodes/${node.nodeId}/parameters`);
    await page.getByText('1 overridden value').click();
    await button(page, 'Reveal /parameters/creds/login of Default').click();
    const dialog = page.getByRole('dialog', { name: 'Reveal /parameters/creds/login' });
    await dialog.getByLabel('Reason').fill(REASON);
    await button(dialog, 'Reveal').click();
    await dialog.getByText(LOGIN, { exact: true }).waitFor();
    await button(dialog, 'Close').click();
    await button(page, 'Reveal /parameters/creds/login').waitFor();
    await close();
  });

  it('are revealed with a reason, hidden again, and gone when the dialog is', async () => {
    const { hawser } = shown;
    const { page, close } = await visit(shown, `/ui/nodes/${node.nodeId}/parameters`, {
      allows: REFUSED_REQUEST,
    });
    const dialog = page.getByRole('dialog', { name: 'Reveal /parameters/pw' });
    const askFor = async () => {
      await button(page, 'Reveal /parameters/pw').click();
      await dialog.getByLabel('Reason').fill(REASON);
      await button(dialog, 'Reveal').click();
    };
    await askFor();
    await dialog.getByText(SECOND, { exact: true }).waitFor();
    expect(await axe(page)).to.deep.equal([]);
    await button(dialog, 'Hide').click();
    expect(await dialog.getByText(SECOND).count()).to.equal(0);
    await button(dialog, 'Close').click();
    expect(await page.content()).to.not.include(SECOND);
    const [entry] = await auditEntries(hawser, 'action=secret.revealed');
    expect(entry?.details).to.include({ path: '/parameters/pw', reason: REASON, version: '1.0.1' });
    await page.getByRole('link', { name: 'Overview' }).click();
    const download = page.waitForEvent('download');
    await button(page, 'Download bundle').click();
    expect((await download).suggestedFilename()).to.equal('db-01.example.org.zip');
    // With these it is as many as a user may see in an hour.
    await page.getByRole('link', { name: 'Parameters', exact: true }).last().click();
    const body = { path: '/parameters/pw', reason: 'again' };
    const admin = hawser.client().with({ Cookie: hawser.session });
    for (let left = 27; left > 0; left -= 1)
      await ok(200, admin.post(`${series}/versions/1.0.1/reveal`, body));
    await askFor();
    await refusal(dialog, 'rate_limited').getByText('It can be tried again in 60 min.').waitFor();
    await close();
  });
});
