// full: SQLite
/** Parameter files in the console: finding, writing, checking, trying and publishing them. */

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { create, publish } from '../../support/configurations.ts';
import { REFUSED_REQUEST, ready, startConsole } from '../../support/console.ts';
import { button, refusal, said, visit } from '../../support/console-parts.ts';
import { moveTo } from '../../support/keyboard.ts';
import { saveParameters } from '../../support/parameter-files.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const SHOP = '/ui/configurations/shop/parameters';
const fileOf = (configuration: string, query: Record<string, string>) =>
  `/ui/configurations/${configuration}/parameters/file?${new URLSearchParams(query)}`;

describe('parameter files in the console', function () {
  this.timeout(240_000);
  const shown = started(() => startConsole({ nodes: 40 }));

  const box = (page: Page) => page.getByRole('textbox', { name: 'parameters.yaml', exact: true });
  const files = (page: Page) => page.getByRole('table', { name: 'Parameter files' });
  const listed = async (query: string): Promise<{ version: string; status: string }[]> =>
    ok(200, shown.hawser.admin.get(`/api/v1/configurations/shop/parameter-files?${query}`));
  const contentOf = async (scopeTypeName: string, value: string | null, version: string) => {
    const { configurations } = shown.site;
    const types: { id: string; name: string }[] = await ok(
      200,
      shown.hawser.admin.get('/api/v1/scope-types'),
    );
    const type = types.find(({ name }) => name === scopeTypeName)?.id;
    const query = value === null ? '' : `?scopeValue=${value}`;
    const path = `/api/v1/parameters/${type}/${configurations['shop']}/versions/${version}${query}`;
    return (await ok(200, shown.hawser.admin.get(path))).content;
  };

  it('are edited, tried on a node and published by the keyboard alone', async () => {
    const { page, close } = await visit(shown, SHOP, { user: 'author' });
    const press = async (target: Parameters<typeof moveTo>[1]) => {
      await moveTo(page, target);
      await page.keyboard.press('Enter');
    };
    await press(files(page).getByRole('row', { name: /prod/ }).getByRole('link', { name: '2.0.1' }));
    await page.getByRole('heading', { level: 1, name: 'shop Environment/prod 2.0.1' }).waitFor();
    await moveTo(page, box(page));
    await page.keyboard.press('Control+End');
    await page.keyboard.type('  rateLimit: 0');
    const fault = page.getByRole('alert').filter({ hasText: '/parameters/rateLimit' });
    await fault.filter({ hasText: 'Must be at least 1' }).waitFor();
    await page.keyboard.press('Backspace');
    await page.keyboard.type('25');
    await page.getByText('Valid', { exact: true }).waitFor();
    expect(await page.getByRole('alert').count()).to.equal(0);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await press(button(page, 'Save'));
    await said(page, 'The draft 2.0.1 of Environment/prod is saved.');
    expect(await contentOf('Environment', 'prod', '2.0.1')).to.match(/^ {2}rateLimit: 25$/m);
    const { fqdn } = shown.site.nodes.behind;
    await moveTo(page, page.getByLabel('Node', { exact: true }));
    await page.keyboard.type(fqdn);
    await press(button(page, 'Preview merge'));
    const merged = page.getByRole('table', { name: 'parameters.yaml' }).first();
    await merged.locator('ins').filter({ hasText: '25' }).waitFor();
    await moveTo(page, page.getByLabel('Message'));
    await page.keyboard.type('The shop is slow.');
    await press(button(page, 'Publish 2.0.1'));
    await said(page, 'Environment/prod 2.0.1 is published.');
    expect((await listed('scopeValue=prod'))[0]).to.include({ version: '2.0.1', status: 'Published' });
    await page.getByRole('link', { name: 'New version' }).waitFor();
    await close();
  });

  it('are written by whoever may change their one scope, and read in the others', async () => {
    const { hawser, site } = shown;
    const values = await ok(
      200,
      hawser.admin.get(`/api/v1/scope-types/${site.scopes.types['Environment']}/values`),
    );
    const grant = {
      ...{ principalType: 'User', principalId: site.users.operator.id, level: 'Modify' },
      scopeTypeId: site.scopes.types['Environment'],
      scopeValueId: values.find(({ value }: { value: string }) => value === 'prod').id,
    };
    const permissions = '/api/v1/configurations/database/parameters/permissions';
    await ok(204, hawser.admin.put(permissions, grant));
    const prod = { scopeTypeName: 'Environment', scopeValue: 'prod', version: '2.0.0' };
    const { page, close } = await visit(shown, fileOf('database', prod), { user: 'operator' });
    await page.getByText('This version is published and stays as it is.').waitFor();
    await moveTo(page, box(page));
    await page.keyboard.press('Control+End');
    await page.keyboard.type('  # Ours.');
    await page.keyboard.press('Control+S');
    await said(page, 'The draft 2.0.1 of Environment/prod is saved.');
    await page.goto(shown.base + fileOf('database', { scopeTypeName: 'Default', version: '1.0.0' }));
    await ready(page);
    await page.getByText('memory: 2GB').first().waitFor();
    expect(await button(page, 'Save').count()).to.equal(0);
    expect(await page.getByRole('link', { name: 'New version' }).count()).to.equal(0);
    const { principalId, scopeTypeId, scopeValueId } = grant;
    const query = `?scopeTypeId=${scopeTypeId}&scopeValueId=${scopeValueId}`;
    await ok(204, hawser.admin.delete(`${permissions}/User/${principalId}${query}`));
    await close();
  });

  it('are not said to have no schema where it cannot be read', async () => {
    const { admin } = shown.hawser;
    const files = { 'main.dsc.yaml': 'resources: [' };
    await ok(201, create(admin, 'unread', { version: '1.0.0' }, { files }));
    await ok(200, publish(admin, 'unread', '1.0.0'));
    const path = fileOf('unread', { scopeTypeName: 'Default', version: '1.0.0', new: 'true' });
    const { page, close } = await visit(shown, path, { allows: REFUSED_REQUEST });
    await page.getByText('The schema cannot be read. Which parameters there are is unknown').waitFor();
    await box(page).fill('parameters:\n  workers: 2\n');
    await refusal(page, 'schema_unknown').waitFor();
    expect(await page.getByText('every value is accepted').count()).to.equal(0);
    await close();
  });

  it('begin with the keys of the schema, and the cell of a scope without one leads there', async () => {
    const { page, close } = await visit(shown, SHOP);
    await files(page).getByRole('row', { name: /asia/ }).getByRole('link', { name: 'New' }).click();
    await page.getByText('Not saved yet').waitFor();
    await box(page).waitFor();
    expect(await box(page).innerText()).to.match(/# workers: .*\n/);
    await box(page).fill('parameters:\n  workers: 1\n  workers: 2\n');
    await page.getByRole('alert').filter({ hasText: 'Line 3, column 3' }).waitFor();
    expect(await page.locator('.cm-lintRange-error').innerText()).to.equal('workers: 2');
    await box(page).fill('parameters:\n  workers: 2\n');
    await button(page, 'Save').click();
    await said(page, 'The draft 1.0.0 of Region/asia is saved.');
    expect(new URL(page.url()).searchParams.has('new')).to.equal(false);
    await page.getByRole('table', { name: 'parameters.yaml' }).locator('ins').first().waitFor();
    await page.reload();
    await ready(page);
    expect(await box(page).innerText()).to.contain('workers: 2');
    await page.getByRole('link', { name: 'Parameters' }).click();
    await files(page).getByRole('row', { name: /asia/ }).getByRole('link', { name: '1.0.0' }).waitFor();
    await close();
  });

  it('go on from a published version: what is typed there becomes the draft of the next one', async () => {
    const address = fileOf('shop', { scopeTypeName: 'Default', version: '2.0.0' });
    const { page, close } = await visit(shown, address);
    expect(await page.getByLabel('Version', { exact: true }).inputValue()).to.equal('2.1.1');
    const before = await box(page).innerText();
    expect(before).to.contain('compression: gzip');
    await box(page).fill('parameters:\n  workers: 5\n');
    await button(page, 'Save').click();
    await page.getByRole('heading', { level: 1, name: 'shop Default 2.1.1' }).waitFor();
    await said(page, 'The draft 2.1.1 of Default is saved.');
    await page.goto(shown.base + address);
    await ready(page);
    expect(await box(page).innerText()).to.equal(before);
    await close();
  });

  it('are not overwritten when somebody else has saved them, and both sides are shown', async () => {
    const query = { scopeTypeName: 'Environment', scopeValue: 'test', version: '3.0.0' };
    const scope = { configuration: 'shop', scopeType: 'Environment', value: 'test', version: '3.0.0' };
    const save = (content: string) => saveParameters(shown.hawser, { ...scope, content, publish: false });
    await save('parameters:\n  workers: 1\n');
    const { page, close } = await visit(shown, fileOf('shop', query), { allows: REFUSED_REQUEST });
    await box(page).fill('parameters:\n  workers: 2\n');
    await save('parameters:\n  workers: 3\n');
    await button(page, 'Save').click();
    const refusal = page.getByRole('alert');
    await refusal.waitFor();
    expect(await refusal.getAttribute('data-code')).to.equal('precondition_failed');
    const sides = page.getByRole('table', { name: 'parameters.yaml' }).first();
    await sides.locator('del').filter({ hasText: '3' }).waitFor();
    await sides.locator('ins').filter({ hasText: '2' }).waitFor();
    expect(await box(page).innerText()).to.contain('workers: 2');
    expect(await contentOf('Environment', 'test', '3.0.0')).to.contain('workers: 3');
    await moveTo(page, button(page, 'Keep mine'));
    await page.keyboard.press('Enter');
    expect(await page.getByText('Somebody else has saved this draft').count()).to.equal(0);
    await button(page, 'Save').click();
    await said(page, 'The draft 3.0.0 of Environment/test is saved.');
    expect(await contentOf('Environment', 'test', '3.0.0')).to.contain('workers: 2');
    await close();
  });

  it('keep what was typed over a look at another page', async () => {
    const query = { scopeTypeName: 'Default', version: '2.1.0' };
    const { page, close } = await visit(shown, fileOf('shop', query));
    await box(page).fill('parameters:\n  workers: 9\n');
    await page.getByRole('link', { name: 'Parameters' }).click();
    await files(page).getByRole('link', { name: '2.1.0' }).click();
    await page.getByText('There are changes that are not saved.', { exact: true }).waitFor();
    expect(await box(page).innerText()).to.contain('workers: 9');
    await button(page, 'Discard changes').click();
    // The draft has a secret, which is shown as it is stored.
    await box(page).getByText('ENC[').waitFor();
    await close();
  });

  it('are only read by somebody with Read', async () => {
    const draft = {
      configuration: 'database',
      version: '1.9.0',
      content: 'parameters: {}\n',
      publish: false,
    };
    await saveParameters(shown.hawser, draft);
    const { page, close } = await visit(shown, '/ui/configurations/database/parameters', {
      user: 'operator',
    });
    expect(await button(page, 'New file').count()).to.equal(0);
    expect(await files(page).getByRole('link', { name: 'New' }).count()).to.equal(0);
    await files(page).getByRole('link', { name: '1.9.0' }).click();
    await page.getByRole('heading', { level: 1, name: 'database Default 1.9.0' }).waitFor();
    await box(page).waitFor();
    expect(await box(page).getAttribute('aria-readonly')).to.equal('true');
    expect(await button(page, 'Save').count()).to.equal(0);
    expect(await button(page, 'Publish 1.9.0').isDisabled()).to.equal(true);
    await page
      .getByText('You may not publish. That needs Modify on the parameters; you have Read.')
      .waitFor();
    await close();
  });

  it('of a node that was deleted are marked, and do not count', async () => {
    const { hawser } = shown;
    const value = 'gone.example.org';
    const { nodeId } = await hawser.registerNode(value);
    const file = { configuration: 'shop', content: 'parameters: {}', scopeType: 'Node', value };
    await saveParameters(hawser, { ...file, version: '1.0.0' });
    const { page, close } = await visit(shown, SHOP);
    const row = files(page).getByRole('row', { name: new RegExp(value) });
    await row.getByText('Major 1 counts').first().waitFor();
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${nodeId}`));
    await page.reload();
    await row.getByText('Of a deleted node').waitFor();
    expect(await row.getByText('Major 1 counts').count()).to.equal(0);
    await row.getByRole('link', { name: '1.0.0' }).click();
    await page
      .getByRole('table', { name: 'Versions' })
      .getByRole('row', { name: /1\.0\.0.*Published Of a deleted node/ })
      .waitFor();
    await close();
  });

  it('are withdrawn after saying what that would do, do not count then, and are offered again', async () => {
    const { hawser } = shown;
    const value = 'back.example.org';
    const { nodeId } = await hawser.registerNode(value);
    await ok(
      204,
      hawser.admin.put(`/api/v1/nodes/${nodeId}/configuration`, {
        configurationName: 'shop',
        majorVersion: 2,
      }),
    );
    const file = { configuration: 'shop', scopeType: 'Node', value, version: '2.0.0' };
    await saveParameters(hawser, { ...file, content: 'parameters: {workers: 3}' });
    const named = { scopeTypeName: 'Node', scopeValue: value, version: '2.0.0' };
    const { page, close } = await visit(shown, fileOf('shop', named));
    await button(page, 'Withdraw').click();
    const dialog = page.getByRole('dialog', { name: `Withdraw shop Node/${value} 2.0.0` });
    await dialog.getByText('1 node is offered this version now').waitFor();
    await dialog.getByText('1 would get nothing').waitFor();
    await dialog.getByLabel('Reason').fill('Too many <b>workers</b>');
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
    await said(page, '2.0.0 is withdrawn');
    await page.getByText('Too many <b>workers</b>').waitFor();
    await page.getByText(/^Withdrawn by admin/).waitFor();
    const row = page.getByRole('table', { name: 'Versions' }).getByRole('row', { name: /2\.0\.0/ });
    await row.getByText('Withdrawn').waitFor();
    await page.getByRole('link', { name: 'Parameters' }).click();
    await files(page)
      .getByRole('row', { name: new RegExp(value) })
      .getByText('1 withdrawn')
      .waitFor();
    await page.goBack();
    await button(page, 'Offer again').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Offer again' }).click();
    await row.getByText('Published').waitFor();
    await button(page, 'Withdraw').waitFor();
    await close();
  });

  it('are counted and filtered as in the API', async () => {
    const { page, close } = await visit(shown, `${SHOP}?scopeTypeName=Environment&status=Published`);
    const total = (await listed('scopeTypeName=Environment&status=Published')).length;
    await said(page, `${total} of ${total}`);
    expect(
      await files(page)
        .getByRole('row', { name: /Region|Default|Node/ })
        .count(),
    ).to.equal(0);
    await page.getByRole('search').getByLabel('Scope value').fill('PROD');
    await page.waitForURL('**scopeValue=PROD**');
    await files(page).getByRole('row', { name: /test/ }).waitFor({ state: 'detached' });
    await page
      .getByRole('table', { name: 'Schema' })
      .getByRole('row', { name: /adminPassword.*Secure/ })
      .waitFor();
    await close();
  });
});
