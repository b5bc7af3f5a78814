import { expect } from 'chai';
import type { AskedNode, Assignment } from '../../../src/db/node-lookup.ts';
import type { RolloutRecord } from '../../../src/domain/rollout.ts';
import { newId } from '../../../src/lib/ids.ts';
import type { CompositeReader } from '../../../src/resolve/composites.ts';
import { candidatesIn, Fork, isOpen, type OpenTo } from '../../../src/resolve/open-versions.ts';
import type { ParameterReader } from '../../../src/resolve/parameters.ts';
import { type Plan, Planner } from '../../../src/resolve/plans.ts';
import type { SchemaReader } from '../../../src/resolve/schemas.ts';
import { SortedVersions } from '../../../src/versions/sorted-versions.ts';
import type { RepositoryRef } from '../../../src/versions/store.ts';
import type { VersionRef } from '../../../src/versions/types.ts';
import type { VersionSource } from '../../../src/versions/version-source.ts';
import { failureOf } from '../../support/failures.ts';
import { begun, gate } from '../../support/rollout-record.ts';

const RING = begun().scopeType.id;

const ref = (version: string, record: RolloutRecord | null = null): VersionRef => ({
  ...{ name: `refs/tags/v${version}`, series: '', version, status: 'Published' },
  ...{ oid: version, commit: '1'.repeat(40), withdrawn: null },
  rollout: record && { oid: '2'.repeat(40), record },
});

const indexOf = (...refs: VersionRef[]) =>
  SortedVersions.EMPTY.with(new Map(refs.map((each) => [each.version, each])));

const step = (ring: string | null, percent = 100) => ({ ring, percent, gate: gate() });
const canary = (more: Partial<RolloutRecord> = {}): RolloutRecord => ({ ...begun(), ...more });
const halted = (isReverted: boolean) => canary({ state: 'Halted', isReverted });

interface TestNode extends AskedNode {
  ring: string | null;
  taken: readonly string[];
}

const node = (ring: string | null, ...taken: string[]): TestNode => ({
  ...{ nodeId: newId(), scopes: null, ring, taken },
});

/** What a node answers, without a database; the question is counted. */
function answering(asked: string[]): (node: AskedNode) => OpenTo {
  return (each) => (repository, rolling) => {
    const { nodeId, ring, taken } = each as TestNode;
    const { key } = rolling.record;
    asked.push(`${repository.name} ${key}`);
    const type = { scopeTypeId: RING, scopeTypeName: 'Ring', precedence: 5 };
    const links = ring === null ? [] : [{ ...type, scopeValue: ring, scopeValueId: ring }];
    const hasTaken = async () => taken.includes(`${repository.name} ${key}`);
    return isOpen(rolling, { nodeId, links, hasTaken });
  };
}

interface World {
  planner: Planner;
  /** The questions so far, each as the name and the version. */
  asked: string[];
  /** The version, or those of the composite and its children, or the code of the error. */
  gets(assignment: Assignment, node: TestNode): Promise<string>;
}

/** A registry in which each name is its own id. */
function world(
  configurations: Record<string, SortedVersions>,
  composites: Record<string, { versions: SortedVersions; children: { name: string; pin?: string }[] }> = {},
): World {
  const source = {
    versions: async ({ kind, name }: RepositoryRef) =>
      (kind === 'composites' ? composites[name]?.versions : configurations[name]) ?? SortedVersions.EMPTY,
    details: async () => ({ entryPoint: 'main.dsc.yaml', files: [] }),
  } as unknown as VersionSource;
  const registry = { nameOf: (_kind: unknown, id: string) => id, configuration: () => null };
  const asked: string[] = [];
  const planner = new Planner(registry, source, {
    composites: {
      document: async ({ name }: RepositoryRef) => ({
        entryPoint: 'main.dsc.yaml',
        children: (composites[name]?.children ?? []).map((child) => ({
          ...{ configuration: child.name, version: child.pin ?? null, majorVersion: null, order: 0 },
        })),
      }),
    } as unknown as CompositeReader,
    parameters: {} as ParameterReader,
    schemas: {} as SchemaReader,
    openness: { of: answering(asked) },
  });
  const gets = async (assignment: Assignment, each: TestNode) => {
    try {
      const plan = await planner.plan(assignment, { ...each, generation: 1 });
      const children = plan.kind === 'composite' ? plan.children : [];
      return [plan, ...children].map(({ name, tag }) => `${name} ${tag.version}`).join(', ');
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  return { planner, asked, gets };
}

const NONE = { majorVersion: null, prereleaseChannel: null, version: null };
const WEB: Assignment = { configurationId: 'web', compositeId: null, ...NONE };
const FARM: Assignment = { configurationId: null, compositeId: 'farm', ...NONE };

describe('versions that are open to some nodes', () => {
  const candidates = (...refs: VersionRef[]) => {
    const { rolling, last } = candidatesIn(indexOf(...refs), NONE);
    return [rolling.map(({ version }) => version), last?.version ?? null];
  };

  it('are asked for from the highest down to the first that is open to all', () => {
    expect(candidates(ref('1.0.0'), ref('1.1.0'))).to.deep.equal([[], '1.1.0']);
    expect(candidates(ref('1.0.0'), ref('1.1.0', canary()), ref('1.2.0', canary()))).to.deep.equal([
      ['1.2.0', '1.1.0'],
      '1.0.0',
    ]);
    const completed = canary({ state: 'Completed' });
    expect(candidates(ref('1.1.0', canary()), ref('1.2.0', completed))).to.deep.equal([[], '1.2.0']);
    expect(candidates(ref('1.0.0'), ref('1.1.0', halted(true)))).to.deep.equal([[], '1.0.0']);
    expect(candidates(ref('1.0.0'), ref('1.1.0', halted(false)))).to.deep.equal([['1.1.0'], '1.0.0']);
    expect(candidates(ref('1.0.0', canary()))).to.deep.equal([['1.0.0'], null]);
  });

  it('follow the constraint', () => {
    const index = indexOf(ref('1.0.0'), ref('1.1.0', canary()), ref('2.0.0', canary()));
    const { rolling, last } = candidatesIn(index, { ...NONE, majorVersion: 1 });
    expect([rolling.map(({ version }) => version), last?.version]).to.deep.equal([['1.1.0'], '1.0.0']);
  });

  it('reach rings in turn, and a larger share only adds', async () => {
    const nodes = Array.from({ length: 400 }, (_, at) => node(['canary', 'early', null][at % 3] ?? null));
    const rings = ['canary', 'early', null];
    let before = new Set<string>();
    for (const [at, ring] of rings.entries())
      for (const percent of [1, 10, 50, 99, 100]) {
        const steps = [...rings.slice(0, at).map((each) => step(each)), step(ring, percent)];
        const record = begun({ steps });
        const open = { ...record, steps: record.steps.map((each) => ({ ...each, state: 'Open' as const })) };
        const { gets } = world({ web: indexOf(ref('1.0.0'), ref('1.4.0', open)) });
        const got = new Set<string>();
        for (const each of nodes)
          if ((await gets(WEB, each)) === 'web 1.4.0') got.add(each.nodeId);
          else expect(await gets(WEB, each)).to.equal('web 1.0.0');
        expect([...got], `${ring} ${percent}`).to.include.members([...before]);
        const reached = nodes.filter((each) => rings.slice(0, at + 1).includes(each.ring));
        if (percent === 100) expect(got.size).to.equal(reached.length);
        before = got;
      }
  });

  it('are given to whoever is pinned to them', async () => {
    const { gets, asked } = world({ web: indexOf(ref('1.0.0'), ref('1.4.0', halted(true))) });
    expect(await gets({ ...WEB, version: '1.4.0' }, node(null))).to.equal('web 1.4.0');
    expect(asked).to.deep.equal([]);
  });

  it('stay with their holders after a halt and when they are superseded', async () => {
    for (const [record, taker, other] of [
      [halted(false), '1.4.0', '1.0.0'],
      [canary({ state: 'Superseded' }), '1.4.0', '1.0.0'],
      [halted(true), '1.0.0', '1.0.0'],
    ] as const) {
      const { gets } = world({ web: indexOf(ref('1.0.0'), ref('1.4.0', record)) });
      expect(await gets(WEB, node('canary', 'web 1.4.0'))).to.equal(`web ${taker}`);
      expect(await gets(WEB, node('canary', 'web 1.3.0'))).to.equal(`web ${other}`);
    }
    const superseded = ref('1.4.0', canary({ state: 'Superseded' }));
    const { gets } = world({ web: indexOf(ref('1.0.0'), superseded, ref('1.5.0', canary())) });
    expect(await gets(WEB, node('canary', 'web 1.4.0'))).to.equal('web 1.5.0');
    expect(await gets(WEB, node(null, 'web 1.4.0'))).to.equal('web 1.4.0');
    expect(await gets(WEB, node(null))).to.equal('web 1.0.0');
  });

  it('are nothing where no other is published', async () => {
    const { gets, planner } = world({ web: indexOf(ref('1.4.0', canary())), db: SortedVersions.EMPTY });
    expect(await gets(WEB, node('canary'))).to.equal('web 1.4.0');
    expect(await gets(WEB, node(null))).to.equal('no_eligible_version');
    expect(await planner.isEligible(WEB), 'a later step may reach it').to.equal(true);
    const ended = world({ web: indexOf(ref('1.4.0', halted(false))) });
    expect(await ended.planner.isEligible(WEB)).to.equal(false);
  });

  it('are chosen for composites and for each of their children that follows', async () => {
    const versions = indexOf(ref('1.0.0'), ref('1.4.0', canary()));
    const children = [{ name: 'web' }, { name: 'db', pin: '1.4.0' }, { name: 'app' }];
    const { gets, planner } = world(
      { web: versions, db: versions, app: indexOf(ref('1.0.0'), ref('1.4.0', halted(false))) },
      { farm: { versions, children } },
    );
    expect(await gets(FARM, node('canary'))).to.equal('farm 1.4.0, web 1.4.0, db 1.4.0, app 1.0.0');
    expect(await gets(FARM, node(null))).to.equal('farm 1.0.0, web 1.0.0, db 1.4.0, app 1.0.0');
    expect(await gets(FARM, node(null, 'app 1.4.0'))).to.equal('farm 1.0.0, web 1.0.0, db 1.4.0, app 1.4.0');
    expect(await planner.isEligible(FARM)).to.equal(true);
  });

  it('have as many plans as there are sets of answers', async () => {
    const rolling = indexOf(ref('1.0.0'), ref('1.4.0', canary()));
    const { planner, asked } = world(
      { web: rolling, db: rolling },
      { farm: { versions: rolling, children: [{ name: 'web' }, { name: 'db' }] } },
    );
    const plans = new Set<Plan>();
    for (let each = 0; each < 100; each += 1)
      plans.add(await planner.plan(FARM, { ...node(each % 2 ? 'canary' : null), generation: 1 }));
    expect(plans.size).to.equal(2);
    expect(asked).to.have.length(300);
    expect(planner.plans(FARM, 1)).to.be.instanceOf(Fork);
  });

  it('are not asked for where nothing rolls out', async () => {
    const { planner, asked } = world({ web: indexOf(ref('1.0.0'), ref('1.1.0')) });
    const one = await planner.plan(WEB, { ...node('canary'), generation: 1 });
    expect(planner.plan(WEB, { ...node(null), generation: 1 }), 'it comes without a promise').to.equal(one);
    expect(asked).to.deep.equal([]);
  });
});

describe('a fork', () => {
  const rolling = { oid: '2'.repeat(40), record: canary() };
  const web = { kind: 'configurations', name: 'web' } as const;

  it('does not keep a failure', async () => {
    let calls = 0;
    const fork = new Fork<string>(web, [rolling], async () => {
      calls += 1;
      if (calls === 1) throw new Error('away');
      return 'there';
    });
    const open: OpenTo = () => true;
    expect((await failureOf(Promise.resolve(fork.wayOf(open)))).message).to.equal('away');
    expect(await fork.wayOf(open)).to.equal('there');
    expect(fork.wayOf(open), 'it is made once').to.equal('there');
    expect(calls).to.equal(2);
  });
});
