// everyday: SQLite
/** The first ten minutes: from an empty folder to the first report of a real agent and a second node, by what the pages say alone. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { dscResult } from '../../support/agent.ts';
import { axe } from '../../support/axe.ts';
import { openPage, startBrowser } from '../../support/browser.ts';
import { type Machine, makeMachine } from '../../support/join-line.ts';
import { steadyPort } from '../../support/ports.ts';
import { buildOnce } from '../../support/program.ts';
import { type Spawned, spawnHawser } from '../../support/spawned.ts';

const NODE = 'first.example.org';
const PASSWORD = 'a-password-of-the-first-day';
/** In milliseconds. The machine may do much else meanwhile. */
const PATIENCE = 60_000;

describe('the first steps on an empty server', function () {
  this.timeout(300_000);
  let folder: string;
  let base: string;
  let server: Spawned;
  let browser: Browser;
  let machine: Machine;
  let second: Machine;

  before(async () => {
    buildOnce();
    folder = mkdtempSync(join(tmpdir(), 'hawser-first-steps-'));
    const port = String(await steadyPort());
    base = `https://localhost:${port}`;
    const settings = { HAWSER_ADMIN_PASSWORD: '', HAWSER_PORT: port, HAWSER_PUBLIC_URL: base };
    server = await spawnHawser(folder, settings);
    [browser] = await Promise.all([startBrowser(), server.listening()]);
    machine = makeMachine(NODE);
    second = makeMachine('second.example.org');
  });
  after(async () => {
    await browser?.close();
    server?.child.kill();
    await server?.ended;
    machine?.remove();
    second?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const list = (page: Page) => page.getByRole('region', { name: 'First steps' });
  const step = (page: Page, name: string) => list(page).locator(`[data-step="${name}"]`);
  const ticked = (page: Page, name: string) =>
    list(page).locator(`[data-step="${name}"][data-done="true"]`).waitFor();
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

  /** By what the page says: the file is where it names it. */
  async function signInFirst(page: Page): Promise<void> {
    await page.goto(`${base}/ui/`);
    const hint = await page.getByText('Nobody has signed in here yet').innerText();
    const file = /in the file (\S+) in the data folder/.exec(hint)?.[1] ?? 'no file is named';
    const password = readFileSync(join(folder, 'data', file), 'utf8').trim();
    await page.getByLabel('User name').fill('admin');
    await page.getByLabel('Password').fill(password);
    await press(page, 'Sign in');
    await page.getByLabel('Current password').fill(password);
    await page.getByLabel('New password, 12 characters or more').fill(PASSWORD);
    await page.getByLabel('New password once more').fill(PASSWORD);
    await press(page, 'Change the password');
  }

  it('lead to the first report of a real agent, and tick themselves off without a reload', async () => {
    // Nobody is signed in yet when the page is opened first.
    const isFault = (type: string, text: string) => type === 'error' && !/status of 401/.test(text);
    const { page, faults, close } = await openPage(browser, new URL(base).host, { isFault });
    page.setDefaultTimeout(PATIENCE);
    await signInFirst(page);
    await ticked(page, 'password');
    expect(await step(page, 'configuration').getAttribute('data-done')).to.equal('false');
    expect(await axe(page)).to.deep.equal([]);

    await press(page, 'Add a configuration');
    await page.getByRole('radio', { name: 'A package' }).check();
    await page.getByRole('radio', { name: 'Windows' }).check();
    expect(await axe(page)).to.deep.equal([]);
    await press(page, 'Publish 1.0.0');
    await ticked(page, 'configuration');

    await press(page, 'New registration key');
    await page.getByText('takes any name that is free or expected').waitFor();
    await press(page, 'Create');
    const line = await page.getByRole('region', { name: 'The line that joins a machine' }).innerText();
    await press(page, 'Done');
    await ticked(page, 'key');

    const joined = await machine.run(line);
    expect(joined.code, joined.stdout + joined.stderr).to.equal(0);
    await ticked(page, 'node');
    await press(page, 'Assign');
    const dialog = page.getByRole('dialog', { name: 'Assign a configuration' });
    await dialog.getByLabel('Node').getByText(NODE).waitFor({ state: 'attached' });
    await dialog.getByRole('button', { name: 'Assign' }).click();
    await ticked(page, 'assigned');

    const command = /next:\n +(.+)\n/.exec(joined.stdout)?.[1] ?? 'no next step is named';
    writeFileSync(join(machine.folder, 'dsc.mjs'), `console.log(${JSON.stringify(dscResult(true))});`);
    const variables = {
      HAWSER_AGENT_COMMAND: JSON.stringify([process.execPath, join(machine.folder, 'dsc.mjs')]),
    };
    const reported = await machine.run(command.replace(' run ', ' run --once '), variables);
    expect(reported.code, reported.stdout + reported.stderr).to.equal(0);
    await list(page).waitFor({ state: 'detached' });
    await page.getByText('The first steps are done').waitFor();
    await page.getByRole('link', { name: 'Compliant 1', exact: true }).waitFor();
    expect(machine.read('hawser-agent/state/current/main.dsc.yaml')).to.include('Microsoft.WinGet/Package');

    // The same line makes the next machine a node.
    const next = await second.run(line);
    expect(next.code, next.stdout + next.stderr).to.equal(0);
    await page.getByRole('link', { name: 'Nodes', exact: true }).click();
    await page.getByRole('row', { name: 'second.example.org' }).waitFor();
    await close();
    expect(faults).to.deep.equal([]);
  });
});
