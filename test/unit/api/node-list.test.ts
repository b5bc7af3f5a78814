import { expect } from 'chai';
import { sql } from 'kysely';
import type { Offers } from '../../../src/api/nodes/list-cells.ts';
import { type Filter, NodeList } from '../../../src/api/nodes/node-list.ts';
import { LIMITS } from '../../../src/db/node-conditions.ts';
import { DAY, MINUTE } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/ids.ts';
import { Random } from '../../support/crash/random.ts';
import { ENGINES, temporaryEngine } from '../../support/engines/open.ts';

const STATUSES = ['Unknown', 'Compliant', 'NonCompliant', 'Error'] as const;
const LCM_STATUSES = ['Unknown', 'Idle', 'Testing'] as const;
const EVIDENCE = ['Told', 'Served', 'Declared'] as const;
const SORTS = ['fqdn', 'lastCheckIn', 'createdAt', 'status'] as const;
const NOW = 1_800_000_000_000;
const RULE = { now: NOW, stalenessMultiplier: 1.5 };
const PARTS = ['web', 'B', '-1', 'example', 'web-1.', '%', '_', 'org', 'x', '0', 'é'];

class Dice extends Random {
  one<T>(items: readonly T[]): T {
    return this.pick(items) as T;
  }
}

/** With limits as low as these, a few nodes are read in all the ways in which a large fleet is. */
const LOW = { few: 0, many: 0, names: 5, merged: 8, slice: 7, counted: 4 };

/** What the list has to know about a node, kept beside the database. */
interface Known {
  id: string;
  fqdn: string;
  status: (typeof STATUSES)[number];
  lcmStatus: (typeof LCM_STATUSES)[number];
  interval: number | null;
  createdAt: number;
  lastCheckIn: number | null;
  notAfter: number;
  assigned: { target: string; isComposite: boolean; major: number | null; pinned: string | null } | null;
  evidence: (typeof EVIDENCE)[number] | null;
  tags: Map<string, string>;
}

const TARGETS = [
  { id: newId(), name: 'web', isComposite: false },
  { id: newId(), name: 'db', isComposite: false },
  { id: newId(), name: 'web', isComposite: true },
];
const TYPES = [
  { id: newId(), values: [newId(), newId()] },
  { id: newId(), values: [newId(), newId(), newId()] },
];

/** What is offered is a matter of the assignment alone, as it is on a server. */
const offers = (name: string, isComposite: boolean, major: number | null, pinned: string | null) =>
  pinned ?? (name === 'db' ? null : `${major ?? 2}.${Number(isComposite)}.0`);

const OFFERS: Offers = {
  of: async ({ name, isComposite, majorVersion, version }) =>
    offers(name, isComposite, majorVersion, version),
  toEach: async () => {
    throw new Error('nothing rolls out');
  },
};

for (const engine of ENGINES)
  describe(`the list of nodes on ${engine}`, () => {
    const opened = temporaryEngine(engine);
    const database = () => opened().database;
    let list: NodeList;
    const fleet: Known[] = [];
    beforeEach(async () => {
      fleet.length = 0;
      await addTargets();
    });

    const run = (text: string, ...values: unknown[]) => {
      const parts = text.split('?');
      return sql
        .join(
          parts.map((part, at) => (at < values.length ? sql`${sql.raw(part)}${values[at]}` : sql.raw(part))),
          sql.raw(''),
        )
        .execute(database().write);
    };

    async function addTargets(): Promise<void> {
      for (const { id, name, isComposite } of TARGETS)
        await run(
          isComposite
            ? 'insert into composites (id, name, name_key, created_at, updated_at) values (?, ?, ?, 1, 1)'
            : `insert into configurations (id, name, name_key, use_server_managed_parameters, created_at, updated_at)
              values (?, ?, ?, 0, 1, 1)`,
          ...[id, name, name],
        );
      for (const [at, { id, values }] of TYPES.entries()) {
        await run(
          `insert into scope_types (id, name, name_key, precedence, is_system, is_enabled, value_mode, created_at, updated_at)
          values (?, ?, ?, ?, 0, 1, 'Unrestricted', 1, 1)`,
          ...[id, `type-${at}`, `type-${at}`, at + 5],
        );
        for (const value of values)
          await run(
            `insert into scope_values (id, scope_type_id, value, value_key, created_at, updated_at) values (?, ?, ?, ?, 1, 1)`,
            ...[value, id, value, value],
          );
      }
    }

    async function add(random: Dice, at: number): Promise<void> {
      const node: Known = {
        id: newId(),
        fqdn: `${random.one(['web', 'db', 'b'])}-${at}.${random.one(['example.org', 'lan', 'box.example.org'])}`,
        status: random.one(STATUSES),
        lcmStatus: random.one(LCM_STATUSES),
        interval: random.one([null, MINUTE, MINUTE, 15 * MINUTE, 0.5]),
        // Few different times, so that many are equal.
        createdAt: NOW - random.below(4),
        lastCheckIn: null,
        notAfter: NOW + random.one([-1, 5, 30, 31, 90]) * DAY,
        assigned: null,
        evidence: null,
        tags: new Map(),
      };
      fleet.push(node);
      await run(
        `insert into nodes (id, fqdn, status, lcm_status, configuration_mode_interval_ms, created_at)
        values (?, ?, ?, ?, ?, ?)`,
        ...[node.id, node.fqdn, node.status, node.lcmStatus, node.interval, node.createdAt],
      );
      await run(
        `insert into node_certificates (thumbprint, node_id, state, subject, not_before, not_after, created_at)
        values (?, ?, 'current', '', 0, ?, 0)`,
        ...[node.id, node.id, node.notAfter],
      );
      for (let changes = random.below(5); changes > 0; changes -= 1) await change(random, node);
    }

    const CHANGES: ((random: Dice, node: Known) => Promise<unknown>)[] = [
      (random, node) => {
        node.status = random.one(STATUSES);
        return run('update nodes set status = ? where id = ?', node.status, node.id);
      },
      (random, node) => {
        node.lcmStatus = random.one(LCM_STATUSES);
        return run('update nodes set lcm_status = ? where id = ?', node.lcmStatus, node.id);
      },
      (random, node) => {
        node.interval = random.one([null, MINUTE, 15 * MINUTE]);
        const values = [node.interval, node.id];
        return run('update nodes set configuration_mode_interval_ms = ? where id = ?', ...values);
      },
      (random, node) => {
        node.lastCheckIn = NOW - random.one([0, 90_000, 90_001, 20 * MINUTE, 2 * DAY]);
        return run(
          `insert into node_check_ins (node_id, last_check_in) values (?, ?)
          on conflict (node_id) do update set last_check_in = excluded.last_check_in`,
          ...[node.id, node.lastCheckIn],
        );
      },
      (random, node) => {
        const { id, isComposite } = random.one(TARGETS);
        const pinned = random.one([null, null, '2.0.0']);
        const major = pinned === null ? random.one([null, 1, 2]) : null;
        node.assigned = { target: id, isComposite, major, pinned };
        return run(
          `insert into assignments (node_id, configuration_id, composite_id, major_version, version, assigned_at)
          values (?, ?, ?, ?, ?, 1) on conflict (node_id) do update set configuration_id = excluded.configuration_id,
          composite_id = excluded.composite_id, major_version = excluded.major_version, version = excluded.version`,
          ...[node.id, isComposite ? null : id, isComposite ? id : null, major, pinned],
        );
      },
      (_random, node) => {
        node.assigned = null;
        return run('delete from assignments where node_id = ?', node.id);
      },
      (random, node) => {
        node.evidence = random.one([null, ...EVIDENCE]);
        const known = node.evidence === null ? null : 'c';
        return run(
          `insert into node_running (node_id, checksum, evidence, since) values (?, ?, ?, ?) on conflict (node_id)
          do update set checksum = excluded.checksum, evidence = excluded.evidence, since = excluded.since`,
          ...[node.id, known, node.evidence, known && 1],
        );
      },
      (random, node) => {
        const { id, values } = random.one(TYPES);
        const value = random.one(values);
        node.tags.set(id, value);
        return run(
          `insert into node_tags (node_id, scope_type_id, scope_value_id, assigned_at) values (?, ?, ?, 1)
          on conflict (node_id, scope_type_id) do update set scope_value_id = excluded.scope_value_id`,
          ...[node.id, id, value],
        );
      },
      (random, node) => {
        const { id } = random.one(TYPES);
        node.tags.delete(id);
        return run('delete from node_tags where node_id = ? and scope_type_id = ?', node.id, id);
      },
    ];

    const change = (random: Dice, node: Known) => random.one(CHANGES)(random, node);

    async function remove(random: Dice): Promise<void> {
      const [node] = fleet.splice(random.below(fleet.length), 1);
      if (node) await run('delete from nodes where id = ?', node.id);
    }

    /** Each member is there as often as not. */
    function randomFilter(random: Dice): Omit<Filter, 'take' | 'skip' | 'sort'> {
      const flag = [true, false];
      const choices = {
        fqdn: PARTS,
        status: STATUSES,
        lcmStatus: LCM_STATUSES,
        configurationName: ['web', 'db', 'none'],
        stale: flag,
        scopeValueId: [
          ...TYPES.flatMap(({ values }) => values.map((value) => [value])),
          TYPES.map(({ values }) => values[1]),
        ],
        withoutScopeTypeId: TYPES.map(({ id }) => id),
        unassigned: flag,
        version: ['1.0.0', '2.0.0', '2.1.0', '9.9.9'],
        evidence: EVIDENCE,
        certificateExpiring: flag,
      };
      const names = Object.keys(choices) as (keyof typeof choices)[];
      const most = random.one([1, 1, 2, 3, 4]);
      const chosen = Array.from({ length: most }, () => random.one(names));
      return Object.fromEntries(
        chosen.map((name) => [name, random.one(choices[name] as readonly unknown[])]),
      );
    }

    function isMet(node: Known, filter: Partial<Filter>): boolean {
      const target = TARGETS.find(({ id }) => id === node.assigned?.target);
      const offered =
        target && node.assigned
          ? offers(target.name, target.isComposite, node.assigned.major, node.assigned.pinned)
          : null;
      const isStale =
        node.lastCheckIn !== null && node.interval !== null && NOW - node.lastCheckIn > node.interval * 1.5;
      const facts: [unknown, unknown][] = [
        [filter.fqdn === undefined ? undefined : true, node.fqdn.includes(filter.fqdn?.toLowerCase() ?? '')],
        [filter.status, node.status],
        [filter.lcmStatus, node.lcmStatus],
        [filter.configurationName, target?.name],
        [filter.stale, isStale],
        [
          filter.scopeValueId === undefined ? undefined : true,
          filter.scopeValueId?.every((id) => [...node.tags.values()].includes(id)),
        ],
        [
          filter.withoutScopeTypeId === undefined ? undefined : true,
          !node.tags.has(filter.withoutScopeTypeId ?? ''),
        ],
        [filter.unassigned, node.assigned === null],
        [filter.version, offered],
        [filter.evidence, node.evidence],
        [filter.certificateExpiring, node.notAfter <= NOW + 30 * DAY],
      ];
      return facts.every(([wanted, fact]) => wanted === undefined || wanted === fact);
    }

    function sorted(nodes: readonly Known[], sort: Filter['sort']): string[] {
      const by = sort.replace('-', '') as (typeof SORTS)[number];
      const sign = sort.startsWith('-') ? -1 : 1;
      const order = (a: Known, b: Known) => {
        const [x, y] = [a[by], b[by]];
        if (x === y) return a.fqdn < b.fqdn ? -1 : 1;
        if (x === null || y === null) return x === null ? -sign : sign;
        return x < y ? -sign : sign;
      };
      return [...nodes].sort(order).map(({ fqdn }) => fqdn);
    }

    async function expectRight(random: Dice, filter: Partial<Filter>): Promise<void> {
      const sort = `${random.one(['', '-'])}${random.one(SORTS)}` as Filter['sort'];
      const wanted = sorted(
        fleet.filter((node) => isMet(node, filter)),
        sort,
      );
      const paging = { take: random.one([1, 3, 1_000]), skip: random.one([0, 0, 1, 7, 40]) };
      const asked = { ...filter, sort, ...paging } as Filter;
      const nameOf = (id: string) => fleet.find((node) => node.id === id)?.fqdn;
      const page = await list.page(asked, RULE, 'a user');
      const what = JSON.stringify(asked);
      expect([page.total, page.rows.map(nameOf)], what).to.deep.equal([
        wanted.length,
        wanted.slice(paging.skip, paging.skip + paging.take),
      ]);
      expect((await list.all(asked, RULE, 'a user')).map(nameOf), `all of ${what}`).to.deep.equal(wanted);
      const some = fleet.filter((_, at) => at % 3 > 0).map(({ id }) => id);
      const among = await list.among(some, asked, RULE, 'a user');
      const found = new Set(some.map(nameOf));
      expect(among.map(nameOf), `among some: ${what}`).to.deep.equal(
        wanted.filter((fqdn) => found.has(fqdn)),
      );
    }

    const ways = [LIMITS, LOW, LOW, { ...LOW, merged: 1_000 }, { ...LOW, many: 20 }];
    for (const [seed, limits] of ways.entries()) {
      it(`answers as if each node were looked at, while nodes come, change and go (${seed})`, async () => {
        list = new NodeList(database(), OFFERS, limits);
        const random = new Dice(seed);
        for (const sort of SORTS) await expectRight(random, { sort });
        for (let at = 0; at < 60; at += 1) await add(random, at);
        for (let round = 0; round < 12; round += 1) {
          for (let at = 0; at < 15; at += 1) await expectRight(random, randomFilter(random));
          for (let at = 0; at < 10; at += 1) await change(random, random.one(fleet));
          for (let at = 0; at < 3; at += 1) await remove(random);
          for (let at = 0; at < 3; at += 1) await add(random, 1_000 * (seed + round) + at);
        }
        await expectCounts();
        while (fleet.length > 0) await remove(random);
        await expectCounts();
      });
    }

    /** Cells hold no node twice, and none that has gone. */
    async function expectCounts(): Promise<void> {
      const { rows } = await sql<{ id: number; count: number; found: number }>`select cell.id, cell.count,
      (select count(*) from nodes where cell_id = cell.id) as found from node_cells cell`.execute(
        database().read,
      );
      expect(rows.filter(({ count, found }) => count !== found || count === 0)).to.deep.equal([]);
      expect(rows.reduce((sum, { count }) => sum + count, 0)).to.equal(fleet.length);
      const tags = await database()
        .read.selectFrom('tag_counts')
        .selectAll()
        .where('count', '<>', 0)
        .execute();
      const values = fleet.flatMap((node) => [...node.tags.values()]);
      expect(Object.fromEntries(tags.map((tag) => [tag.scope_value_id, tag.count]))).to.deep.equal(
        Object.fromEntries(
          [...new Set(values)].map((value) => [value, values.filter((one) => one === value).length]),
        ),
      );
    }
  });
