// full: SQLite
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axe } from '../../support/axe.ts';
import { ready } from '../../support/console.ts';
import { button } from '../../support/console-parts.ts';
import { cookiesOf, startSignInConsole } from '../../support/console-sign-in.ts';
import { makeUser } from '../../support/people.ts';
import { ok } from '../../support/replies.ts';
import type { Cookies } from '../../support/sign-in-flow.ts';
import { PROVIDER } from '../../support/sign-in-server.ts';
import { started } from '../../support/started.ts';

const ME = '/api/v1/auth/me';
const MAPPINGS = '/api/v1/groups/external-mappings';
const FORGE = 'https://token.forge.example.org';
const FROM_NOW_ON = 'Sign in with Example Corp from now on';

describe('the console where people sign in by a provider', () => {
  const shown = started(() =>
    startSignInConsole({ groupsClaim: '/groups' }, { HAWSER_FEDERATION_ISSUERS: FORGE }),
  );

  const table = (page: Page, name: string) => page.getByRole('table', { name, exact: true });
  const person = (name: string, groups: string[] = []) => ({
    ...{ sub: `of-${name}`, preferred_username: name, groups },
  });
  const openAsAdmin = async (path: string) => {
    const opened = await shown.open(path, cookiesOf(shown.hawser.session));
    await ready(opened.page);
    return opened;
  };

  it('says who is signed in by it, asks for no password, and knows the way out of it too', async () => {
    const cookies: Cookies = new Map();
    await shown.signIn(person('ann'), cookies);
    const { page, close } = await shown.open('/ui/me', cookies);
    await ready(page);
    await page.getByText('You are signed in by Example Corp.').waitFor();
    expect(await page.getByLabel('Current password').count()).to.equal(0);
    expect(await axe(page)).to.deep.equal([]);
    await button(page, 'Sign out').click();
    await page.waitForURL(`${shown.base}/login?signedOut=${PROVIDER}`);
    await page.getByRole('link', { name: 'Sign out of Example Corp too' }).waitFor();
    // What was refused because the session had ended leads nowhere else afterwards.
    await page.waitForLoadState('networkidle');
    expect(page.url()).to.equal(`${shown.base}/login?signedOut=${PROVIDER}`);
    await close();
  });

  it('shows who is signed in by password the way to it, and signs them out as ever', async () => {
    const { session } = await makeUser(shown.hawser, { username: 'dan' });
    const { page, close } = await shown.open('/ui/me', cookiesOf(session));
    await ready(page);
    await page.getByText('You are signed in by password.').waitFor();
    expect(await page.getByLabel('Current password').count()).to.equal(1);
    await page.getByRole('link', { name: FROM_NOW_ON }).click();
    await page.waitForURL(`${shown.base}/login`);
    await page.locator('summary', { hasText: FROM_NOW_ON }).waitFor();
    await page.goto(`${shown.base}/ui/me`);
    await ready(page);
    await button(page, 'Sign out').click();
    await page.waitForURL(`${shown.base}/login`);
    await button(page, 'Sign in').waitFor();
    await close();
  });

  it('lists by what a person signs in; removing it ends the sessions by it', async () => {
    const bea = await shown.signIn(person('bea'));
    const { userId } = await ok(200, bea.get(ME));
    const { page, close } = await openAsAdmin(`/ui/access/users/${userId}`);
    const row = table(page, 'Identities').getByRole('row', { name: 'of-bea' });
    await row.getByText('Example Corp').waitFor();
    await row.getByText(shown.provider.issuer).waitFor();
    // The provider named no address, and its user can be saved all the same.
    await page.getByLabel('User name').fill('beatrix');
    await button(page, 'Save').click();
    await page.getByRole('heading', { level: 1, name: 'beatrix' }).waitFor();
    expect(await axe(page)).to.deep.equal([]);

    await button(row, 'Remove').click();
    const dialog = page.getByRole('dialog', { name: 'Remove the identity at Example Corp' });
    await dialog.getByText('The sessions that were begun by it end').waitFor();
    await button(dialog, 'Remove').click();
    await page.getByText('There is no identity.').waitFor();
    expect((await bea.get(ME)).status).to.equal(401);
    await close();
  });

  it('makes and deletes a federation of a service account', async () => {
    const wish = { username: 'deployer', email: 'deployer@example.org', accountType: 'ServiceAccount' };
    const { id } = await ok(201, shown.hawser.admin.post('/api/v1/users', wish));
    const federations = () => ok(200, shown.hawser.admin.get(`/api/v1/users/${id}/federations`));
    const { page, close } = await openAsAdmin(`/ui/access/users/${id}`);
    await page.getByText('There is no federation yet.').waitFor();
    expect(await page.getByRole('heading', { name: 'Identities' }).count()).to.equal(0);

    await button(page, 'New federation').click();
    const dialog = page.getByRole('dialog', { name: 'New federation' });
    const fault = (field: string) => dialog.locator(`[name="${field}"][aria-invalid="true"]`);
    await dialog.getByLabel('Issuer').fill('https://other.example.org');
    await dialog.getByLabel('Subject (sub)').fill('repo:example/web:ref:refs/heads/main');
    await dialog.getByLabel('Further claims').fill('{"repository_id": "123456"');
    await button(dialog, 'Create').click();
    await fault('claims').waitFor();
    await dialog.getByLabel('Further claims').fill('{"repository_id": "123456"}');
    await button(dialog, 'Create').click();
    await fault('issuer').waitFor();
    expect(await axe(page)).to.deep.equal([]);
    await dialog.getByLabel('Issuer').fill(FORGE);
    await dialog.getByLabel('Filter scopes').fill('nodes.');
    await dialog.getByLabel('nodes.read').check();
    await button(dialog, 'Create').click();
    await dialog.waitFor({ state: 'detached' });
    const claims = { sub: 'repo:example/web:ref:refs/heads/main', repository_id: '123456' };
    const [made] = await federations();
    expect(made).to.deep.include({ issuer: FORGE, claims, scopes: ['nodes.read'], lifetimeMinutes: 15 });

    const row = table(page, 'Federations').getByRole('row', { name: FORGE });
    await row.getByText('repository_id: "123456"').waitFor();
    await row.getByText('15 min').waitFor();
    expect(await axe(page)).to.deep.equal([]);
    await button(row, 'Delete').click();
    const asking = page.getByRole('dialog', { name: `Delete the federation with ${FORGE}` });
    await asking.getByText('The tokens that came by it are revoked').waitFor();
    await button(asking, 'Delete').click();
    await page.getByText('There is no federation yet.').waitFor();
    expect(await federations()).to.deep.equal([]);
    await close();
  });

  it('shows where a membership comes from, and makes none by a provider one for good', async () => {
    const { admin } = shown.hawser;
    const { id } = await ok(201, admin.post('/api/v1/groups', { name: 'On call', description: null }));
    const mapped = { provider: PROVIDER, externalGroupId: 'ops', externalGroupName: null, groupId: id };
    const mapping = await ok(201, admin.post(MAPPINGS, mapped));
    await shown.signIn(person('cid', ['ops']));
    await makeUser(shown.hawser, { username: 'eve' });
    const { page, close } = await openAsAdmin(`/ui/access/groups/${id}`);
    const row = (name: string) => table(page, 'Members').getByRole('row', { name });
    await row('cid').getByText('Example Corp').waitFor();
    expect(await button(row('cid'), 'Remove').count()).to.equal(0);
    await page.getByText('cannot be removed here').waitFor();
    expect(await axe(page)).to.deep.equal([]);

    await page.getByLabel('User name').fill('eve');
    await button(page, 'Add member').click();
    await row('eve').getByText('Local').waitFor();
    await row('cid').getByText('Example Corp').waitFor();
    await ok(204, admin.delete(`${MAPPINGS}/${mapping.id}`));
    const { members } = await ok(200, admin.get(`/api/v1/groups/${id}`));
    expect(members.map(({ username }: { username: string }) => username)).to.deep.equal(['eve']);
    await close();
  });
});
