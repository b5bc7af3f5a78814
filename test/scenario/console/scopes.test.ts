// full: SQLite
/** Scope types and values in the console. */

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { REFUSED_REQUEST, startConsole } from '../../support/console.ts';
import { said, visit } from '../../support/console-parts.ts';
import { moveTo } from '../../support/keyboard.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

describe('scopes in the console', () => {
  const shown = started(() => startConsole({ nodes: 40 }));

  const types = (page: Page) => page.getByRole('table', { name: 'Scope types' });
  const values = (page: Page) => page.getByRole('table', { name: 'Values', exact: true });
  const order = async () =>
    ((await ok(200, shown.hawser.admin.get('/api/v1/scope-types'))) as { name: string }[]).map(
      ({ name }) => name,
    );

  it('are moved by the keyboard, which keeps its place', async () => {
    const { page, close } = await visit(shown, '/ui/scopes');
    const up = types(page)
      .getByRole('row', { name: /Environment/ })
      .getByRole('button', { name: 'Move up' });
    await moveTo(page, up);
    await page.keyboard.press('Enter');
    await said(page, 'Environment has precedence 1 now.');
    expect(await order()).to.deep.equal(['Default', 'Environment', 'Region', 'Node']);
    // It cannot be moved up any further, so that the way back is at hand.
    const down = types(page)
      .getByRole('row', { name: /Environment/ })
      .getByRole('button', { name: 'Move down' });
    await types(page)
      .getByRole('row', { name: /Environment 1/ })
      .waitFor();
    await moveTo(page, down);
    await page.keyboard.press('Enter');
    await said(page, 'Environment has precedence 2 now.');
    expect(await order()).to.deep.equal(['Default', 'Region', 'Environment', 'Node']);
    await close();
  });

  it('are made with values, described, renamed and deleted', async () => {
    const { page, close } = await visit(shown, '/ui/scopes', { allows: REFUSED_REQUEST });
    await page.getByRole('button', { name: 'New scope type' }).click();
    const dialog = page.getByRole('dialog', { name: 'New scope type' });
    await dialog.getByLabel('Name').fill('Customer');
    await dialog.getByLabel('Description').fill('<b>Whose</b> machine it is');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 2, name: 'Values of Customer' }).waitFor();
    await types(page).getByText('<b>Whose</b> machine it is').waitFor();
    await page.getByRole('button', { name: 'New value' }).click();
    const asking = page.getByRole('dialog', { name: 'New value of Customer' });
    await asking.getByLabel('Scope value').fill('acme');
    await asking.getByRole('button', { name: 'Create' }).click();
    const row = values(page).getByRole('row', { name: /acme/ });
    await row.getByRole('link', { name: '0 nodes' }).waitFor();
    await row.getByRole('link', { name: 'acme' }).click();
    const usage = page.getByRole('dialog', { name: 'Usage of Customer/acme' });
    await usage.getByText('No configuration that you may see has a parameter file for it.').waitFor();
    await usage.getByRole('button', { name: 'Close' }).click();
    await row.getByRole('button', { name: 'Rename' }).click();
    const value = page.getByRole('dialog', { name: 'Rename Customer/acme' });
    await value.getByLabel('Scope value').fill('globex');
    await value.getByRole('button', { name: 'Rename' }).click();
    await said(page, 'Customer/acme is called globex now.');
    const type = types(page).getByRole('row', { name: /Customer/ });
    await type.getByRole('button', { name: 'Rename' }).click();
    const naming = page.getByRole('dialog', { name: 'Rename Customer' });
    await naming.getByLabel('Name').fill('Region');
    await naming.getByRole('button', { name: 'Rename' }).click();
    await naming.getByRole('alert').filter({ hasText: 'A scope type has this name already' }).waitFor();
    await naming.getByLabel('Name').fill('Client');
    await naming.getByRole('button', { name: 'Rename' }).click();
    await said(page, 'Customer is called Client now.');
    await types(page).getByText('<b>Whose</b> machine it is').waitFor();
    const renamed = values(page).getByRole('row', { name: /globex/ });
    await renamed.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await said(page, 'Client/globex is deleted.');
    await close();
  });

  it('that are in use say where, and are not deleted', async () => {
    const { page, close } = await visit(shown, '/ui/scopes', { allows: REFUSED_REQUEST });
    const row = values(page).getByRole('row', { name: /^eu/ });
    await row.getByRole('link', { name: 'eu', exact: true }).click();
    const usage = page.getByRole('dialog', { name: 'Usage of Region/eu' });
    await usage.getByRole('row', { name: 'shop 2' }).waitFor();
    await page.keyboard.press('Escape');
    await row.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete Region/eu' });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'A node is tagged with it' }).waitFor();
    expect(await dialog.getByRole('alert').getAttribute('data-code')).to.equal('in_use');
    await close();
  });

  it('are shown to whoever has signed in, who may not change them', async () => {
    const { page, close } = await visit(shown, '/ui/scopes', { user: 'nobody' });
    await types(page)
      .getByRole('row', { name: /Environment/ })
      .waitFor();
    expect(await page.getByRole('button', { name: /Move|Delete|New|Edit|Rename|Switch/ }).count()).to.equal(
      0,
    );
    expect(await values(page).getByRole('columnheader', { name: 'Nodes' }).count()).to.equal(0);
    await close();
  });
});
