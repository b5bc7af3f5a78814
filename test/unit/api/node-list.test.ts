// full: SQLite
import { expect } from 'chai';
import { sql } from 'kysely';
import type { z } from 'zod';
import { ListedNodes } from '../../../src/api/nodes/listed-nodes.ts';
import type { NodeFilter } from '../../../src/api/nodes/schemas.ts';
import { findNode } from '../../../src/db/nodes.ts';
import { readingStates } from '../../../src/db/read-states.ts';
import type { ReadingDatabase } from '../../../src/db/reading.ts';
import { DAY, MINUTE } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/ids.ts';
import type { Fleet } from '../../../src/resolve/fleet.ts';
import type { FleetTools } from '../../../src/resolve/fleet-tasks.ts';
import { nodeListTasks } from '../../../src/resolve/node-list-tasks.ts';
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

type Filter = z.output<typeof NodeFilter>;

/** Carries out at once what a thread does on a server. */
function questionsOn(reading: () => ReadingDatabase): FleetTools['questions'] {
  const tasks = nodeListTasks(() => ({ database: reading() }) as Fleet) as Record<
    string,
    (input: unknown, send: (piece: unknown) => Promise<void>) => unknown
  >;
  return {
    run: async (
      _caller: string,
      task: string,
      input: unknown,
      { onPiece }: { onPiece?(piece: unknown): void } = {},
    ) => tasks[task]?.(input, async (piece) => onPiece?.(piece)),
  } as unknown as FleetTools['questions'];
}

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
  key: string | null;
  isAwaiting: boolean;
  /** Null where they are not known. */
  problems: number | null;
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

const KEYS = [newId(), newId()];

/** What is offered is a matter of the assignment alone, as it is on a server. */
const offers = (name: string, isComposite: boolean, major: number | null, pinned: string | null) =>
  pinned ?? (name === 'db' ? null : `${major ?? 2}.${Number(isComposite)}.0`);

for (const engine of ENGINES)
  describe(`the list of nodes on ${engine}`, () => {
    const opened = temporaryEngine(engine);
    const database = () => opened().database;
    const fleet: Known[] = [];
    const reading = () => opened().reading;
    const questions = questionsOn(reading);
    const listed = () =>
      new ListedNodes({
        ...{ database: database(), questions },
        offeredVersions: {
          of: async ({ name, isComposite, majorVersion, version }) =>
            offers(name, isComposite, majorVersion, version),
          toEach: async (nodes) => nodes.map(({ offered }) => offered as string | null),
        },
        problemCounts: {
          ofNodes: async (ids) =>
            new Map(ids.map((id) => [id, fleet.find((node) => node.id === id)?.problems ?? null])),
        },
      });
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
        key: random.one([null, ...KEYS]),
        isAwaiting: random.below(3) === 0,
        problems: random.one([null, 0, 0, 2]),
      };
      fleet.push(node);
      await run(
        `insert into nodes (id, fqdn, status, lcm_status, configuration_mode_interval_ms, created_at, registration_key_id)
        values (?, ?, ?, ?, ?, ?, ?)`,
        ...[node.id, node.fqdn, node.status, node.lcmStatus, node.interval, node.createdAt, node.key],
      );
      await run(
        `insert into node_certificates
          (thumbprint, sha1_thumbprint, node_id, state, subject, not_before, not_after, created_at)
        values (?, ?, ?, 'current', '', 0, ?, 0)`,
        ...[node.id, node.isAwaiting ? node.id : 'other', node.id, node.notAfter],
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
        awaiting: flag,
        registrationKeyId: KEYS,
        hasParameterProblems: flag,
      };
      const names = Object.keys(choices) as (keyof typeof choices)[];
      const most = random.one([1, 1, 2, 3, 4]);
      const chosen = Array.from({ length: most }, () => random.one(names));
      return Object.fromEntries(
        chosen.map((name) => [name, random.one(choices[name] as readonly unknown[])]),
      );
    }

    const isStaleNow = ({ lastCheckIn, interval }: Known) =>
      lastCheckIn !== null && interval !== null && NOW - lastCheckIn > interval * 1.5;

    function isMet(node: Known, filter: Partial<Filter>): boolean {
      const target = TARGETS.find(({ id }) => id === node.assigned?.target);
      const offered =
        target && node.assigned
          ? offers(target.name, target.isComposite, node.assigned.major, node.assigned.pinned)
          : null;
      const facts: [unknown, unknown][] = [
        [filter.fqdn === undefined ? undefined : true, node.fqdn.includes(filter.fqdn?.toLowerCase() ?? '')],
        [filter.status, node.status],
        [filter.lcmStatus, node.lcmStatus],
        [filter.configurationName, target?.name],
        [filter.stale, isStaleNow(node)],
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
        [filter.awaiting, node.isAwaiting],
        [filter.registrationKeyId, node.key],
        [filter.hasParameterProblems, node.problems === null ? null : node.problems > 0],
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
      const list = listed();
      const page = await list.page(asked, RULE, 'a user');
      const what = JSON.stringify(asked);
      expect([page.total, page.rows.map(({ node }) => node.fqdn)], what).to.deep.equal([
        wanted.length,
        wanted.slice(paging.skip, paging.skip + paging.take),
      ]);
      const all = await list.matchingIds(asked, RULE, 'a user');
      expect(all.map(nameOf), `all of ${what}`).to.deep.equal(wanted);
    }

    for (const seed of [0, 1, 2])
      it(`answers as if each node were looked at, while nodes come, change and go (${seed})`, async () => {
        const random = new Dice(seed);
        for (const sort of SORTS) await expectRight(random, { sort });
        for (let at = 0; at < 60; at += 1) await add(random, at);
        for (let round = 0; round < 12; round += 1) {
          for (let at = 0; at < 15; at += 1) await expectRight(random, randomFilter(random));
          await expectOneAnswer();
          for (let at = 0; at < 10; at += 1) await change(random, random.one(fleet));
          for (let at = 0; at < 3; at += 1) await remove(random);
          for (let at = 0; at < 3; at += 1) await add(random, 1_000 * (seed + round) + at);
        }
        while (fleet.length > 0) await remove(random);
        await expectOneAnswer();
      });

    /** What is told of nodes in several places is the same in all of them: who is stale, and how many have which status. */
    async function expectOneAnswer(): Promise<void> {
      const names = (nodes: readonly Known[]) => nodes.map(({ id }) => id).sort();
      const stale = names(fleet.filter(isStaleNow));
      const filter = { sort: 'fqdn', take: 1_000, skip: 0 } as const;
      const { rows } = await listed().page(filter, RULE, 'a user');
      const found = await listed().matchingIds({ ...filter, stale: true }, RULE, 'a user');
      expect([...found].sort(), 'in the filter').to.deep.equal(stale);
      const shown = rows.filter(({ node }) => Boolean(node.isStale)).map(({ node }) => node.id);
      expect(shown.sort(), 'in the rows').to.deep.equal(stale);
      const pages = await Promise.all(fleet.map(({ id }) => findNode(database().read, id, RULE)));
      const onPages = pages.flatMap((node) => (node?.isStale ? node.id : []));
      expect(onPages.sort(), 'on the pages').to.deep.equal(stale);
      const states: string[] = [];
      await reading().read(
        readingStates(reading().queries, RULE, (id, { isStale }) => void (isStale && states.push(id))),
      );
      expect(states.sort(), 'among the states').to.deep.equal(stale);
      const summary = await questions.run('a user', 'fleetSummary', RULE);
      const counts = await questions.run('a user', 'stateCounts', RULE);
      const times = await questions.run('a user', 'fleetTimes', { rule: RULE, until: [NOW + 30 * DAY] });
      expect([summary.stale, counts.stale, times.stale], 'in the counts').to.deep.equal(
        Array(3).fill(stale.length),
      );
      const count = (is: (node: Known) => boolean) => fleet.filter(is).length;
      const statuses = STATUSES.map((name) => [name, count(({ status }) => status === name)]);
      expect(summary.byStatus).to.deep.equal(Object.fromEntries(statuses));
      const expiring = count(({ notAfter }) => notAfter <= NOW + 30 * DAY);
      expect([summary.certificatesExpiring, times.ending[0]]).to.deep.equal([expiring, expiring]);
      expect(summary).to.include({
        nodes: fleet.length,
        unassigned: count(({ assigned }) => assigned === null),
        neverCheckedIn: count(({ lastCheckIn }) => lastCheckIn === null),
      });
      const { running } = await questions.run('a user', 'fleetKinds', undefined);
      const evidence = EVIDENCE.map((name) => [name, count((node) => node.evidence === name)]);
      expect(running).to.deep.equal(Object.fromEntries(evidence));
      const assigned = TARGETS.map(({ id, name, isComposite }) => ({
        ...{ name, isComposite },
        nodes: count((node) => node.assigned?.target === id),
      })).filter(({ nodes }) => nodes > 0);
      const shownConfigurations = summary.configurations.map(({ byStatus: _, ...rest }) => rest);
      expect(shownConfigurations).to.have.deep.members(assigned);
    }

    it('tells the same nodes to be stale everywhere, although intervals change while nodes call for the first time', async () => {
      const random = new Dice(7);
      for (let at = 0; at < 40; at += 1) await add(random, at);
      await run('delete from node_check_ins');
      await Promise.all(
        fleet.flatMap((node) => {
          node.interval = random.one([MINUTE, 15 * MINUTE]);
          node.lastCheckIn = NOW - random.one([0, 90_001, 20 * MINUTE, 2 * DAY]);
          const { id, interval, lastCheckIn } = node;
          return [
            run('insert into node_check_ins (node_id, last_check_in) values (?, ?)', id, lastCheckIn),
            run('update nodes set configuration_mode_interval_ms = ? where id = ?', interval, id),
          ];
        }),
      );
      await expectOneAnswer();
    });
  });
