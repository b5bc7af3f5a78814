import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { MINUTE, SECOND } from '../../src/lib/clock.ts';
import { auditEntries } from '../support/audit.ts';
import { makeHashesCheap } from '../support/cheap-hashes.ts';
import type { Client, Reply } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { ADMIN_PASSWORD, type Hawser, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';

const LOGIN = '/api/v1/auth/login';
const GOOD = 'a-password-of-a-test-user';

/** Answers in the order in which they came. */
class Answers {
  readonly come: Reply[] = [];
  private readonly asked: Promise<unknown>[] = [];

  ask(reply: Promise<Reply>): void {
    this.asked.push(reply.then((come) => this.come.push(come)));
  }

  all(): Promise<unknown> {
    return Promise.all(this.asked);
  }

  count(...statuses: number[]): number {
    return this.come.filter(({ status }) => statuses.includes(status)).length;
  }
}

describe('many sign-ins at once', () => {
  let hawser: Hawser;

  before(async () => {
    makeHashesCheap(false);
    hawser = await startHawser({ HAWSER_TRUSTED_PROXIES: '127.0.0.1' });
  });
  after(async () => {
    await hawser.close();
    makeHashesCheap(true);
  });
  // Each test has the attempts of a fresh minute.
  beforeEach(() => hawser.clock.advance(MINUTE + SECOND));

  const from = (address: string): Client => hawser.client().with({ 'X-Forwarded-For': address });
  const login = (address: string, username: string, password = 'a-wrong-password') =>
    from(address).post(LOGIN, { username, password });

  const EIGHT = Array.from({ length: 8 }, (_, index) => `192.0.2.${index + 1}`);

  /** What sends the next request without a handshake of its own, which would come behind those of the others. */
  async function connected(client: Client): Promise<Client> {
    expect((await client.get('/health')).status).to.equal(200);
    return client;
  }

  /** From eight addresses as many at once, all wrong; comes back when those that wait are all that is not answered. */
  async function flood(ofEach: number): Promise<Answers> {
    const answers = new Answers();
    for (let time = 0; time < ofEach; time += 1)
      for (const address of EIGHT) answers.ask(login(address, 'nobody-of-this-name'));
    // 32 that wait, and as many at work as there are slots for.
    while (answers.come.length < 8 * ofEach - 35) await sleep(20);
    return answers;
  }

  it('hold up a right one by a turn of each other address at most, and turn the rest away', async () => {
    const client = await connected(from('192.0.2.99'));
    const wrong = await flood(10);
    const before = wrong.count(401);
    const right = await client.post(LOGIN, { username: 'admin', password: ADMIN_PASSWORD });
    expect(right.status, right.text).to.equal(200);
    // Eight turns, and those that were at work.
    expect(wrong.count(401) - before, 'checked before the right one').to.be.below(16);
    await wrong.all();
    expect(wrong.count(401, 429, 503)).to.equal(80);
    expect(wrong.count(429, 503), 'turned away').to.be.greaterThan(0);
    for (const { status, headers, json } of wrong.come.filter((reply) => reply.status !== 401)) {
      expect(Number(headers['retry-after'])).to.be.within(1, 60);
      expect(`${status} ${json.code}`).to.be.oneOf(['429 rate_limited', '503 overloaded', '503 unavailable']);
    }
  });

  it('count as of one address when they come from one IPv6 network', async () => {
    const wrong = new Answers();
    for (let host = 1; host <= 60; host += 1)
      wrong.ask(login(`2001:db8:7:7::${host.toString(16)}`, 'nobody-of-this-name'));
    await wrong.all();
    expect(wrong.count(401), 'checked').to.be.below(30);
    expect(wrong.count(401, 429, 503)).to.equal(60);
    const again = await login('2001:db8:7:7:ffff:ffff:ffff:ffff', 'admin', ADMIN_PASSWORD);
    expect(`${again.status} ${again.json.code}`).to.equal('429 rate_limited');
    expect((await login('2001:db8:7:8::1', 'admin', ADMIN_PASSWORD)).status, 'of the next network').to.equal(
      200,
    );
  });

  it('share the attempts of a minute in one IPv6 network, and those of an IPv4 address in every spelling', async () => {
    for (const [first, same, other] of [
      ['2001:db8:1:2::1', '2001:DB8:1:2:3:4:5:6', '2001:db8:1:3::1'],
      ['198.51.100.7', '::ffff:c633:6407', '::ffff:198.51.100.8'],
    ] as const) {
      expect((await login(first, 'nobody-of-this-name')).status).to.equal(401);
      await withDatabase(hawser, ({ write }) =>
        write.updateTable('login_attempts').set({ attempts: 30 }).execute(),
      );
      expect((await login(same, 'admin', ADMIN_PASSWORD)).status, same).to.equal(429);
      expect((await login(other, 'admin', ADMIN_PASSWORD)).status, other).to.equal(200);
    }
  });

  it('are counted as refused registrations are, by the network', async () => {
    for (const host of ['2001:db8:5:6::1', '2001:db8:5:6:7::1', '2001:db8:5:7::1'])
      expect(
        (await from(host).post('/api/v1/nodes/register', { registrationKey: 'x', fqdn: 'web' })).status,
      ).to.equal(400);
    const rows = await withDatabase(hawser, ({ read }) =>
      read
        .selectFrom('login_attempts')
        .select(['address', 'attempts'])
        .where('address', 'like', 'registration %')
        .execute(),
    );
    expect(rows).to.have.deep.members([
      { address: 'registration 2001:db8:5:6::/64', attempts: 2 },
      { address: 'registration 2001:db8:5:7::/64', attempts: 1 },
    ]);
  });

  it('that are turned away count as no failure of the account, and stand in the audit trail', async () => {
    await makeUser(hawser, { username: 'anna', permissions: [] });
    const [others, annas] = [new Answers(), new Answers()];
    for (let time = 0; time < 14; time += 1) others.ask(login('192.0.2.1', 'nobody-of-this-name'));
    for (let time = 0; time < 12; time += 1) annas.ask(login('192.0.2.1', 'anna'));
    await Promise.all([others.all(), annas.all()]);
    const refused = others.count(429) + annas.count(429);
    expect(refused).to.be.at.least(8);
    expect(refused + others.count(401) + annas.count(401)).to.equal(26);
    const [anna] = await withDatabase(hawser, ({ read }) =>
      read.selectFrom('users').selectAll().where('username', '=', 'anna').execute(),
    );
    // The fifth failure locks, and begins to count anew.
    expect(anna?.access_failed_count).to.equal(annas.count(401) < 5 ? annas.count(401) : 0);
    expect(anna?.lockout_end !== null).to.equal(annas.count(401) >= 5);
    const entries = await auditEntries(hawser, 'action=session.refused&take=26');
    const unchecked = entries.filter(({ details }) => details?.['reason'] === 'too many at once');
    expect(unchecked).to.have.length(refused);
    for (const entry of unchecked) expect(entry).to.include({ resourceId: null, ipAddress: '192.0.2.1' });
  });

  it('tell nothing of an account by being turned away', async () => {
    await makeUser(hawser, { username: 'bert', permissions: [] });
    const seen = new Set<string>();
    for (const username of ['bert', 'nobody-of-this-name']) {
      hawser.clock.advance(MINUTE + SECOND);
      const answers = new Answers();
      for (let time = 0; time < 20; time += 1) answers.ask(login('192.0.2.1', username, GOOD));
      await answers.all();
      const turnedAway = answers.come.find(({ status }) => status === 429);
      expect(turnedAway, username).to.not.equal(undefined);
      seen.add(`${turnedAway?.text} ${turnedAway?.headers['retry-after']}`);
    }
    expect([...seen]).to.have.length(1);
  });

  it('neither hold up nor turn away those who make users and set passwords', async () => {
    const admin = await connected(hawser.admin);
    const make = (username: string) =>
      admin.post('/api/v1/users', { username, email: `${username}@example.org`, password: GOOD });
    const wrong = await flood(6);
    const before = wrong.count(401);
    expect((await make('maker')).status).to.equal(201);
    expect(wrong.count(401) - before, 'checked before the user was made').to.be.below(16);
    const more = await Promise.all(Array.from({ length: 7 }, (_, index) => make(`maker-${index}`)));
    expect(more.map(({ status }) => status)).to.deep.equal(more.map(() => 201));
    const change = { currentPassword: ADMIN_PASSWORD, newPassword: 'another-password-for-tests' };
    const session = hawser.client().with({ Cookie: hawser.session });
    expect((await session.post('/api/v1/auth/change-password', change)).status).to.equal(204);
    await wrong.all();
  });
});
