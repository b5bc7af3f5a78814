// full: SQLite
/** Rollouts in the console: started from a review, watched, paused with a reason, and moved by two people at once. */

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axe } from '../../support/axe.ts';
import { noHorizontalScroll, REFUSED_REQUEST, startConsole } from '../../support/console.ts';
import { button, refusal, said, visit } from '../../support/console-parts.ts';
import { ok } from '../../support/replies.ts';
import { doDeed, rolloutsOf } from '../../support/rollouts.ts';
import { started } from '../../support/started.ts';

const REVIEW = '/ui/configurations/shop/drafts/2.2.0/review';
const PAGE = '/ui/configurations/shop/rollouts/2.2.0';
const ROLLOUT = `${rolloutsOf('shop')}/2.2.0`;

describe('rollouts in the console', function () {
  this.timeout(240_000);
  const shown = started(() => startConsole({ nodes: 40 }));

  const dialogOf = (page: Page) => page.getByRole('dialog');

  it('need a scope type for the rings, which the settings name', async () => {
    const { page, close } = await visit(shown, REVIEW);
    await page.getByText('Nothing can be rolled out yet').waitFor();
    await page.getByRole('link', { name: 'Set it in the settings' }).click();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    const form = page.getByRole('form', { name: 'Rollouts' });
    await form.getByLabel('Scope type of the rings').selectOption('Environment');
    await form.getByRole('button', { name: 'Save' }).click();
    await said(page, 'The rings of rollouts were saved.');
    await close();
  });

  it('start from a review, with a smaller share of the first ring', async () => {
    const { page, close } = await visit(shown, REVIEW, { allows: REFUSED_REQUEST });
    await button(page, 'Roll out 2.2.0').click();
    const dialog = dialogOf(page);
    expect(await axe(page)).to.deep.equal([]);
    const first = dialog.getByRole('group', { name: 'Step 1' });
    await first.getByRole('button', { name: 'Add a smaller share before' }).click();
    // Of few nodes a tenth may be none, and a step without nodes is passed at once.
    await first.getByLabel('Percent of its nodes').fill('90');
    const send = dialog.getByRole('button', { name: 'Roll out', exact: true });
    await dialog.getByLabel('If it halts').selectOption('Keep');
    const drafts = dialog.getByRole('group', { name: 'Drafts of its parameters' });
    expect(await drafts.getByRole('checkbox').count()).to.equal(2);
    await drafts.getByLabel('Environment/prod 2.0.1').check();
    await first.getByText(/^It adds (about )?\d+ nodes?\.$/).waitFor();
    await first.getByText(/^Gate:/).click();
    await first.getByLabel('Bake time', { exact: true }).fill('90');
    await first.getByLabel('Unit of the bake time').selectOption('minutes');
    await first.getByLabel('Share of successes').fill('2');
    await send.click();
    await dialog.getByRole('alert').waitFor();
    expect(await first.getByLabel('Share of successes').getAttribute('aria-invalid')).to.equal('true');
    await first.getByLabel('Share of successes').fill('0.9');
    await send.click();
    await page.waitForURL(`**${PAGE}`);
    await said(page, 'shop 2.2.0 is published and rolls out.');
    const step = page.getByRole('region', { name: 'Step 1' });
    await step.getByRole('heading', { name: 'Step 1: 90 % of prod' }).waitFor();
    await step.getByText('At least 90 % of those that took it').waitFor();
    const bars = step.getByRole('list', { name: 'Nodes of step 1' }).getByRole('listitem');
    expect(await bars.count()).to.equal(7);
    const { steps, parameters } = await ok(200, shown.hawser.admin.get(ROLLOUT));
    const file = { scopeTypeName: 'Environment', scopeValue: 'prod', version: '2.0.1' };
    expect(parameters).to.have.length(1);
    expect(parameters[0]).to.include(file);
    expect(steps[0].gate.bakeTime).to.equal('01:30:00');
    expect(
      steps.map(({ ring, percent }: { ring: string; percent: number }) => [ring, percent]),
    ).to.deep.equal([
      ...[
        ['prod', 90],
        ['prod', 100],
        ['test', 100],
        [null, 100],
      ],
    ]);
    await page.getByRole('link', { name: 'Environment/prod 2.0.1' }).click();
    await page.getByRole('link', { name: 'Running in a rollout' }).waitFor();
    await close();
  });

  it('are paused with a reason, which the history shows', async () => {
    const { page, close } = await visit(shown, PAGE);
    await button(page, 'Pause').click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Reason').fill('The load balancer is being replaced.');
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await said(page, 'The rollout of shop 2.2.0 is Paused.');
    const history = page.getByRole('table', { name: 'History' }).getByRole('row');
    await history.filter({ hasText: 'The load balancer is being replaced.' }).waitFor();
    const why = page.getByRole('region', { name: 'Why' });
    await why.getByText('admin has paused it: The load balancer is being replaced.').waitFor();
    expect(await history.getByRole('rowheader').allInnerTexts()).to.deep.equal(['Started', 'Paused']);
    expect(await button(page, 'Pause').count()).to.equal(0);
    expect(await axe(page)).to.deep.equal([]);
    await page.setViewportSize({ width: 320, height: 900 });
    await noHorizontalScroll(page);
    await close();
  });

  it('show what they are by now where somebody else was quicker', async () => {
    const { page, close } = await visit(shown, PAGE, { allows: REFUSED_REQUEST });
    await button(page, 'Halt').click();
    const dialog = dialogOf(page);
    await ok(200, doDeed(shown.hawser.admin, ROLLOUT, 'resume', 'Paused'));
    await dialog.getByLabel('Reason').fill('It is of no use.');
    await dialog.getByRole('button', { name: 'Halt' }).click();
    await refusal(dialog, 'state_changed').waitFor();
    await dialog.getByText('The rollout is Running by now').waitFor();
    expect(await dialog.getByRole('button', { name: 'Halt' }).isDisabled()).to.equal(true);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await button(page, 'Pause').waitFor();
    await close();
  });

  it('stand on the pages of the fleet and of the configuration, without deeds for who only looks on', async () => {
    const { page, close } = await visit(shown, '/ui/', { user: 'viewer' });
    const row = page.getByRole('table', { name: 'Rollouts' }).getByRole('row', { name: /shop 2\.2\.0/ });
    await row.getByText('1 of 4, 90 % of prod').waitFor();
    await page.goto(`${shown.base}/ui/configurations/shop`);
    await page.getByRole('table', { name: 'Rollouts' }).getByRole('link', { name: '2.2.0' }).click();
    await page.getByRole('heading', { level: 1, name: 'Rollout shop 2.2.0' }).waitFor();
    await page.getByRole('table', { name: 'History' }).waitFor();
    expect(await button(page, 'Pause').count()).to.equal(0);
    await close();
  });
});
