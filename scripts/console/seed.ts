/**
 * Fills a server with a believable site through its API: configurations, parameters, people, and nodes that have
 * pulled and reported. Tests, screenshots and the demo use it. The same number of nodes gives the same names.
 */

import pLimit from 'p-limit';
import { HOUR } from '../../src/lib/clock.ts';
import { type Client, makeUncheckedClient, type Target } from '../../test/support/client.ts';
import { ok } from '../../test/support/replies.ts';
import {
  COMPOSITE,
  finishConfigurations,
  makeComposite,
  makeConfigurations,
  makeParameters,
  makeScopes,
  type Scopes,
} from './site/content.ts';
import { Machine } from './site/machine.ts';
import { HOSTILE, NODE_WITH_FILE } from './site/parameters.ts';
import { makePeople, type People } from './site/people.ts';
import { type Plan, planNodes } from './site/plan.ts';
import { hostileReport, longReport, reportOf } from './site/reports.ts';
import { makeWebhook } from './site/webhook.ts';

/** How many nodes call at once. */
const AT_ONCE = 8;

export interface SeedOptions {
  /** The number of nodes; 200 if it is missing. */
  nodes?: number;
  /**
   * Moves the server's clock by so many milliseconds. With it, the nodes report for 23 hours; without it, everything
   * has happened just now.
   */
  passTime?: (milliseconds: number) => void;
}

/** The ids and names of what was made. */
export interface Site extends People {
  scopes: Scopes;
  /** The ids of the configurations by name. */
  configurations: Record<string, string>;
  composite: string;
  /** Their certificates are kept, so that they can go on calling. */
  machines: Machine[];
  /** Nodes with something special: hostile texts, a parameter that is missing, an older version than the offered one. */
  nodes: Record<'hostile' | 'withProblems' | 'behind', { id: string; fqdn: string }>;
  /** The ids of the reports with hostile texts and with many resources. */
  reports: { hostile: string; long: string };
  keys: { active: { id: string; key: string }; revoked: { id: string } };
  webhook: { id: string; host: string };
  /** Closes the connections of the nodes. */
  close(): void;
}

/** @param password that of `admin` */
export async function seedSite(target: Target, password: string, options: SeedOptions = {}): Promise<Site> {
  const clients: Client[] = [];
  const signIn = async (username: string, secret: string): Promise<Client> => {
    const client = makeUncheckedClient(target);
    clients.push(client);
    const login = client.post('/api/v1/auth/login', { username, password: secret });
    const reply = await login;
    await ok(200, reply);
    return client.with({ Cookie: String(reply.headers['set-cookie']).split(';', 1)[0] ?? '' });
  };
  try {
    const admin = await signIn('admin', password);
    const people = await makePeople(admin, password);
    const author = await signIn(people.users.author.username, people.users.author.password);
    return await fill({ target, admin, author, people, options });
  } finally {
    for (const client of clients) client.close();
  }
}

interface Making {
  target: Target;
  admin: Client;
  author: Client;
  people: People;
  options: SeedOptions;
}

async function fill({ target, admin, author, people, options }: Making): Promise<Site> {
  const plans = planNodes(options.nodes ?? 200);
  const [scopes, machines] = [await makeScopes(admin), await makeMachines(target, plans)];
  const configurations = await makeConfigurations(author);
  await makeComposite(author);
  const keys = await makeKeys(admin);
  await each(machines, (machine) => machine.register(keys.active.key));
  await makeParameters(author, scopes, configurations, 'Published');
  await grant(admin, people);
  await tagAndAssign(admin, scopes, machines);
  await each(machines, (machine) => machine.cycle());
  if (options.passTime) await liveThrough(machines, [admin, author], options.passTime);
  await finishConfigurations(author);
  await makeParameters(author, scopes, configurations, 'Draft');
  // Most nodes have called again since the newest version was published.
  await each(
    machines.filter((_, at) => at % 4 !== 3),
    callAgain,
  );
  const special = specialAmong(machines);
  const reports = await reportSpecially(special);
  await setUpServer(admin);
  const webhook = await makeWebhook(admin);
  const close = () => {
    for (const machine of machines) machine.close();
  };
  const nodes = {
    hostile: nodeOf(special.hostile),
    withProblems: nodeOf(special.withProblems),
    behind: nodeOf(special.behind),
  };
  const made = { scopes, configurations, composite: COMPOSITE, machines, nodes, reports, keys, webhook };
  return { ...people, ...made, close };
}

const makeMachines = (target: Target, plans: readonly Plan[]) =>
  Promise.all(plans.map((plan) => Machine.make(target, plan)));

async function each(machines: readonly Machine[], work: (machine: Machine, at: number) => Promise<unknown>) {
  const limit = pLimit(AT_ONCE);
  await Promise.all(machines.map((machine, at) => limit(() => work(machine, at))));
}

async function makeKeys(admin: Client): Promise<Site['keys']> {
  const path = '/api/v1/admin/registration-keys';
  const active = await ok(201, admin.post(path, { description: 'Machines of this year' }));
  const revoked = await ok(201, admin.post(path, { description: 'Lost with a laptop', maxUses: 1 }));
  await ok(201, admin.post(path, { description: `Of ${HOSTILE}`, maxUses: 5, allowReregistration: true }));
  await ok(204, admin.delete(`${path}/${revoked.id}`));
  return { active: { id: active.id, key: active.key }, revoked: { id: revoked.id } };
}

/** The people of the site may do something with what the author has made. */
async function grant(admin: Client, { users, group }: People): Promise<void> {
  const grants = [
    ['/api/v1/configurations/shop', 'Group', group.id, 'Modify'],
    ['/api/v1/configurations/database', 'User', users.operator.id, 'Read'],
    ['/api/v1/configurations/os-baseline', 'User', users.viewer.id, 'Read'],
    [`/api/v1/composite-configurations/${COMPOSITE}`, 'Group', group.id, 'Read'],
  ] as const;
  for (const [path, principalType, principalId, level] of grants)
    await ok(204, admin.put(`${path}/permissions`, { principalType, principalId, level }));
}

async function tagAndAssign(admin: Client, scopes: Scopes, machines: readonly Machine[]): Promise<void> {
  const bulk = async (members: readonly Machine[], deed: Record<string, unknown>) => {
    if (members.length === 0) return;
    const answer = await ok(
      200,
      admin.post('/api/v1/nodes/bulk', { nodeIds: members.map(({ id }) => id), ...deed }),
    );
    if (answer.failed.length > 0)
      throw new Error(`the bulk deed failed: ${JSON.stringify(answer.failed[0])}`);
  };
  for (const [name, scopeValueId] of Object.entries(scopes.values)) {
    const value = name.split('/')[1];
    const members = machines.filter(({ plan }) => plan.region === value || plan.environment === value);
    await bulk(members, { action: 'Tag', scopeValueId });
  }
  const wishes = new Set(machines.map(({ plan }) => JSON.stringify(plan.assignment)));
  wishes.delete('null');
  for (const wish of wishes) {
    const members = machines.filter(({ plan }) => JSON.stringify(plan.assignment) === wish);
    await bulk(members, { action: 'Assign', ...JSON.parse(wish) });
  }
}

/** A day of the fleet: every hour some nodes report, and mostly what they have reported before. */
async function liveThrough(
  machines: readonly Machine[],
  sessions: readonly Client[],
  passTime: (milliseconds: number) => void,
): Promise<void> {
  for (let hour = 1; hour <= 23; hour += 1) {
    passTime(HOUR);
    // A session ends 8 hours after its last use.
    for (const session of sessions) await ok(200, session.get('/api/v1/auth/me'));
    const calling = machines.filter(({ plan }, at) => !plan.isStale && (at + hour) % 6 === 0);
    await each(calling, (machine, at) => machine.cycle((at + hour) % 9 === 0 ? 'NonCompliant' : undefined));
  }
  passTime(HOUR);
  await each(machines.filter(callsStill), (machine) => machine.poll());
}

const callsStill = ({ plan }: Machine) => !plan.isStale && plan.reach !== 'Registered';

async function callAgain(machine: Machine, at: number): Promise<void> {
  if (!callsStill(machine)) return;
  // Some have only heard of the newest version when the site is looked at, and some have not reported since they got it.
  if (at % 5 === 4) await machine.poll();
  else if (at % 3 === 0) await machine.cycle();
  else await machine.update();
}

type Special = Record<'hostile' | 'long' | 'withProblems' | 'behind', Machine>;

const nodeOf = ({ id, plan: { fqdn } }: Machine) => ({ id, fqdn });

/** The nodes that get reports of their own, or are in a state that pages show in another way. */
function specialAmong(machines: readonly Machine[]): Special {
  const find = (what: string, fits: (machine: Machine, at: number) => boolean): Machine => {
    const found = machines.find(fits);
    if (!found) throw new Error(`the site has too few nodes for one ${what}`);
    return found;
  };
  const isOfShop = ({ plan }: Machine) => plan.assignment?.configurationName === 'shop';
  const reports = ({ plan }: Machine) => plan.reach === 'Declared';
  return {
    hostile: find('with a file of its own', ({ plan }) => plan.fqdn === NODE_WITH_FILE),
    long: find(
      'of database',
      (each) => reports(each) && each.plan.assignment?.configurationName === 'database',
    ),
    withProblems: find('in asia', (each) => isOfShop(each) && follows(each) && each.plan.region === 'asia'),
    behind: find(
      'that is behind',
      (each, at) => isBehind(at) && isOfShop(each) && follows(each) && reports(each),
    ),
  };
}

/** Whether the node gets the newest stable version. */
const follows = ({ plan }: Machine) => Object.keys(plan.assignment ?? {}).length === 1;

/** These do not call again once the newest version is published. */
const isBehind = (at: number) => at % 4 === 3;

async function reportSpecially({ hostile, long }: Special): Promise<Site['reports']> {
  const reports = {
    hostile: await hostile.report(hostileReport()),
    long: await long.report(longReport()),
  };
  await hostile.report(reportOf('shop', 'NonCompliant', 1));
  for (const status of ['Downloading', 'Remediating', 'Testing', 'Idle']) await hostile.setStatus(status);
  return reports;
}

async function setUpServer(admin: Client): Promise<void> {
  const settings = '/api/v1/settings';
  await ok(200, admin.put(`${settings}/retention`, { keepVersions: 5, keepDays: 30, reportKeepCount: 200 }));
  const own = { keepVersions: 20, keepReleaseVersions: true };
  await ok(200, admin.put('/api/v1/configurations/shop/settings/retention', own));
  await ok(200, admin.put(`${settings}/lcm-defaults`, { defaultConfigurationMode: 'Monitor' }));
  await ok(
    200,
    admin.post('/api/v1/retention/configurations/cleanup', { dryRun: true, keepVersions: 1, keepDays: 0 }),
  );
  await ok(200, admin.post('/api/v1/retention/reports/cleanup', { keepCount: 500, keepDays: 30 }));
  // A refusal, so that the audit trail has one too.
  const refused = await admin.post('/api/v1/auth/login', {
    username: 'oskar.operator',
    password: 'not his password',
  });
  if (refused.status !== 401) throw new Error(`a wrong password was answered ${refused.status}`);
}
