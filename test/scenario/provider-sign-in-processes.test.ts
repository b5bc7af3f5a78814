// full: SQLite, PostgreSQL
/** Sign-in by a provider at several servers, at a start, and before the eyes of the doctor. */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Client, makeClient } from '../support/client.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { ADMIN_PASSWORD, type Hawser, signIn, startHawser } from '../support/hawser.ts';
import { LyingProvider } from '../support/lying-provider.ts';
import { ok } from '../support/replies.ts';
import {
  answerOfProvider,
  beginSignIn,
  clientWith,
  finishSignIn,
  signInBy,
} from '../support/sign-in-flow.ts';
import { PROVIDER, settingsWith, writeProviders } from '../support/sign-in-server.ts';
import { runHawser, type Spawned, spawnHawser } from '../support/spawned.ts';

const ME = '/api/v1/auth/me';
const AT_ONCE = 6;

describe('sign-in by a provider at a program of its own', function () {
  this.timeout(300_000);
  let folder: string;
  let provider: LyingProvider;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-oidc-'));
    provider = await LyingProvider.start();
  });
  after(async () => {
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('goes on after SIGHUP with what the file says now', async () => {
    const settings = settingsWith(writeProviders(folder, provider));
    const hawser: Spawned = await spawnHawser(join(folder, 'told'), settings);
    const clients: Client[] = [];
    try {
      const target = await hawser.listening();
      const server = {
        client: () => {
          const client = makeClient(target);
          clients.push(client);
          return client;
        },
      };
      const { reply, cookies } = await signInBy(server, PROVIDER);
      expect(reply.status, reply.text).to.equal(200);
      expect(await ok(200, clientWith(server, cookies).get(ME))).to.include({ username: 'ann' });
      writeProviders(folder, provider, { label: 'Another Corp' });
      hawser.child.kill('SIGHUP');
      for (let turn = 0; turn < 100; turn += 1) {
        const listed = await ok(200, server.client().get('/api/v1/auth/providers'));
        if (listed[0].label === 'Another Corp') break;
        if (turn === 99) expect.fail('the file was not taken anew');
      }
    } finally {
      for (const client of clients) client.close();
      hawser.child.kill('SIGKILL');
      await hawser.ended;
    }
  });

  it('is there after kill -9 at once after the answer, and one that was begun before can be ended', async () => {
    const site = join(folder, 'killed');
    const settings = settingsWith(writeProviders(folder, provider));
    const serverOf = async (hawser: Spawned) => {
      const client = makeClient(await hawser.listening());
      return { client: () => client };
    };
    const killed = await spawnHawser(site, settings);
    const first = await serverOf(killed);
    const begun = await beginSignIn(first, PROVIDER);
    provider.person = { sub: 'of-kai', preferred_username: 'kai' };
    const { reply, cookies } = await signInBy(first, PROVIDER);
    killed.child.kill('SIGKILL');
    expect(reply.status, reply.text).to.equal(200);
    await killed.ended;
    first.client().close();
    const hawser = await spawnHawser(site, settings);
    const second = await serverOf(hawser);
    try {
      const me = await ok(200, clientWith(second, cookies).get(ME));
      expect(me).to.include({ username: 'kai', authProvider: PROVIDER });
      const callback = await answerOfProvider(begun.authorizeUrl);
      await ok(200, finishSignIn(second, callback, { cookies: begun.cookies }));
      const again = await ok(200, clientWith(second, begun.cookies).get(ME));
      expect(again.userId).to.equal(me.userId);
    } finally {
      second.client().close();
      hawser.child.kill('SIGKILL');
      await hawser.ended;
    }
  });

  it('refuses the start where the file has a fault, and names the member', async () => {
    for (const [members, place] of [
      [{ issuer: 'http://provider.example.org' }, '/0/issuer'],
      [{ allowedGroups: undefined }, '/0/allowedGroups'],
      [{ clientSecretFile: '/nowhere' }, '/0/clientSecretFile'],
      [{ colour: 'red' }, 'colour'],
    ] as const) {
      const settings = settingsWith(writeProviders(folder, provider, members));
      const { code, stderr } = await runHawser(join(folder, 'faulty'), settings);
      expect(code, stderr).to.equal(78);
      expect(stderr.trim().split('\n').at(-1)).to.include('HAWSER_OIDC_FILE').and.to.include(place);
      expect(stderr).to.not.include(provider.clientSecret);
    }
    const { HAWSER_PUBLIC_URL, ...rest } = settingsWith(writeProviders(folder, provider));
    const { code, stderr } = await runHawser(join(folder, 'faulty'), rest);
    expect(HAWSER_PUBLIC_URL).to.match(/^https:/);
    expect(code).to.equal(78);
    expect(stderr).to.include('HAWSER_PUBLIC_URL');
  });

  it('is looked at by the doctor', async () => {
    const site = join(folder, 'examined');
    const hawser = await spawnHawser(site, settingsWith(writeProviders(folder, provider)));
    try {
      const first = makeClient(await hawser.listening());
      expect(await signIn(first, 'admin', ADMIN_PASSWORD)).to.be.a('string');
      first.close();
      const examine = async () => {
        const { stdout } = await runHawser(site, settingsWith(join(folder, 'oidc.json')), [
          'doctor',
          '--json',
        ]);
        const { checks } = JSON.parse(stdout);
        return checks.find(({ name }: { name: string }) => name === 'sign-in');
      };
      expect(await examine()).to.deep.equal({
        name: 'sign-in',
        summary: '1 identity provider',
        findings: [],
      });
      chmodSync(join(folder, 'secret'), 0o644);
      await provider.stop();
      const { findings } = await examine();
      expect(findings.map(({ severity }: { severity: string }) => severity)).to.deep.equal([
        'warning',
        'warning',
      ]);
      expect(JSON.stringify(findings)).to.include(provider.issuer).and.not.include(provider.clientSecret);
      await provider.resume();
      writeFileSync(join(folder, 'oidc.json'), '[');
      expect((await examine()).findings[0]).to.include({ severity: 'error', where: 'HAWSER_OIDC_FILE' });
    } finally {
      hawser.child.kill('SIGKILL');
      await hawser.ended;
    }
  });
});

describeOnPostgres('sign-in by a provider at two servers', function (this: Mocha.Suite) {
  this.timeout(300_000);
  let folder: string;
  let provider: LyingProvider;
  let one: Hawser;
  let other: Hawser;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-oidc-'));
    provider = await LyingProvider.start();
    const settings = settingsWith(writeProviders(folder, provider));
    one = await startHawser(settings);
    other = await startHawser({ ...settings, HAWSER_DATABASE_URL: one.databaseUrl ?? '' });
  });
  after(async () => {
    await other.close();
    await one.close();
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is begun at one and ended at the other, and ends at both', async () => {
    provider.person = { sub: 'of-ben', preferred_username: 'ben' };
    const { authorizeUrl, cookies } = await beginSignIn(one, PROVIDER);
    await ok(200, finishSignIn(other, await answerOfProvider(authorizeUrl), { cookies }));
    for (const server of [one, other])
      expect(await ok(200, clientWith(server, cookies).get(ME))).to.include({ authProvider: PROVIDER });
    const token = await provider.logoutToken({ sub: 'of-ben' });
    const sent = other.client().call('POST', `/login/oidc/${PROVIDER}/backchannel-logout`, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(new URLSearchParams({ logout_token: token }).toString()),
    });
    await ok(200, sent);
    for (const server of [one, other])
      expect((await clientWith(server, cookies).get(ME)).status).to.equal(401);
  });

  it('makes one user of many first sign-ins at once', async () => {
    provider.person = { sub: 'of-cat', preferred_username: 'cat' };
    const begun: Awaited<ReturnType<typeof beginSignIn>>[] = [];
    for (let at = 0; at < AT_ONCE; at += 1) begun.push(await beginSignIn(at % 2 ? one : other, PROVIDER));
    const callbacks = await Promise.all(begun.map(({ authorizeUrl }) => answerOfProvider(authorizeUrl)));
    const replies = await Promise.all(
      callbacks.map((callback, at) =>
        finishSignIn(at % 2 ? other : one, callback, { cookies: begun[at]?.cookies ?? new Map() }),
      ),
    );
    expect(replies.map(({ status }) => status)).to.deep.equal(replies.map(() => 200));
    const users = await ok(200, one.admin.get('/api/v1/users?take=100'));
    const cats = users.filter(({ username }: { username: string }) => username === 'cat');
    expect(cats).to.have.length(1);
    expect(await ok(200, one.admin.get(`/api/v1/users/${cats[0].id}/identities`))).to.have.length(1);
  });
});
