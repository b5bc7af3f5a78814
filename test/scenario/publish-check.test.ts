// full: SQLite
import { expect } from 'chai';
import { addChild, addCompositeDraft, compositeVersionOf, createComposite } from '../support/composites.ts';
import { addVersion, CONFIGURATIONS, create, MAIN } from '../support/configurations.ts';
import { refsOf, versionOf } from '../support/draft-files.ts';
import { type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { filesOf, publishBlocks } from '../support/parameter-schemas.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const port = { type: 'int', defaultValue: 1 };
const host = { type: 'string', defaultValue: 'a' };
const UNREADABLE = { port: { type: 'int', minLength: 1 } };

interface Case {
  what: string;
  /** Makes the version. @returns its path */
  make(hawser: Hawser): Promise<string>;
  blockers: string[];
  comparedWith: string | null;
  /** What the report says of breaking changes; null where there is no report. */
  isBreaking: boolean | null;
}

/** A configuration with one published block, and a draft of another. */
const pair =
  (name: string, blocks: [object, object], version = '1.1.0', mode = 'Strict') =>
  async ({ admin }: Hawser) => {
    await publishBlocks(admin, name, { '1.0.0': blocks[0] });
    await ok(200, admin.put(`${CONFIGURATIONS}/${name}/settings`, { parameterValidationMode: mode }));
    await ok(201, addVersion(admin, name, { version }, filesOf(blocks[1])));
    return versionOf(name, version);
  };

/** A composite's draft with these children, each pinned to a version or following. */
const composite =
  (name: string, children: Record<string, string | null>) =>
  async ({ admin }: Hawser) => {
    await ok(201, createComposite(admin, name));
    await ok(201, addCompositeDraft(admin, name, '1.0.0'));
    for (const [child, activeVersion] of Object.entries(children))
      await ok(201, addChild(admin, name, '1.0.0', child, { activeVersion }));
    return compositeVersionOf(name, '1.0.0');
  };

const CASES: readonly Case[] = [
  {
    what: 'a first version',
    async make({ admin }) {
      await ok(201, create(admin, 'first'));
      return versionOf('first', '1.0.0');
    },
    blockers: [],
    comparedWith: null,
    isBreaking: null,
  },
  {
    what: 'a published version',
    async make({ admin }) {
      await publishBlocks(admin, 'done', { '1.0.0': { port }, '1.1.0': { port, host } });
      return versionOf('done', '1.1.0');
    },
    blockers: ['already_published'],
    comparedWith: '1.0.0',
    isBreaking: null,
  },
  {
    what: 'a version that nobody manages parameters of',
    async make({ admin }) {
      await publishConfiguration(admin, 'own', { '1.0.0': { [MAIN]: 'x' } });
      const change = { json: { useServerManagedParameters: false } };
      await ok(200, admin.call('PATCH', `${CONFIGURATIONS}/own`, change));
      await ok(201, addVersion(admin, 'own', { version: '1.1.0' }, filesOf(UNREADABLE)));
      return versionOf('own', '1.1.0');
    },
    blockers: [],
    comparedWith: '1.0.0',
    isBreaking: null,
  },
  {
    what: 'a version that adds to its parameters',
    make: pair('adds', [{ port }, { port, host }]),
    blockers: [],
    comparedWith: '1.0.0',
    isBreaking: false,
  },
  {
    what: 'a version that breaks its parameters',
    make: pair('breaks', [{ port, host }, { port }]),
    blockers: ['incompatible_parameters'],
    comparedWith: '1.0.0',
    isBreaking: true,
  },
  {
    what: 'a new major version that breaks its parameters',
    make: pair('major', [{ port, host }, { port }], '2.0.0'),
    blockers: [],
    comparedWith: '1.0.0',
    isBreaking: true,
  },
  {
    what: 'a block that cannot be read, in mode Strict',
    make: pair('strict', [{ port }, UNREADABLE]),
    blockers: ['validation_failed'],
    comparedWith: '1.0.0',
    isBreaking: null,
  },
  {
    what: 'a block that cannot be read, in mode Warn',
    make: pair('warn', [{ port }, UNREADABLE], '1.1.0', 'Warn'),
    blockers: [],
    comparedWith: '1.0.0',
    isBreaking: null,
  },
  {
    what: 'a version that is no SemVer',
    async make(hawser) {
      await pair('named', [{ port, host }, { port }])(hawser);
      await ok(200, hawser.admin.put(`${CONFIGURATIONS}/named/settings`, { requireSemVer: false }));
      await ok(201, addVersion(hawser.admin, 'named', { version: 'spring' }, filesOf({ port })));
      return versionOf('named', 'spring');
    },
    blockers: [],
    comparedWith: null,
    isBreaking: null,
  },
  {
    what: 'a composite without children',
    make: composite('empty', {}),
    blockers: ['no_children'],
    comparedWith: null,
    isBreaking: null,
  },
  {
    what: 'a composite whose children are not published',
    async make(hawser) {
      await ok(201, create(hawser.admin, 'fresh'));
      return composite('unready', { breaks: '1.1.0', done: '1.1.0', fresh: null })(hawser);
    },
    blockers: ['unpublished_child', 'unpublished_child'],
    comparedWith: null,
    isBreaking: null,
  },
  {
    what: 'a composite whose children are published',
    make: composite('ready', { done: '1.0.0', own: null }),
    blockers: [],
    comparedWith: null,
    isBreaking: null,
  },
  {
    what: 'a published composite, above another',
    async make(hawser) {
      const path = await composite('twice', { done: null })(hawser);
      await ok(200, hawser.admin.put(`${path}/publish`));
      await ok(201, addCompositeDraft(hawser.admin, 'twice', '1.1.0'));
      await ok(201, addChild(hawser.admin, 'twice', '1.1.0', 'done'));
      await ok(200, hawser.admin.put(`${compositeVersionOf('twice', '1.1.0')}/publish`));
      return compositeVersionOf('twice', '1.1.0');
    },
    blockers: ['already_published'],
    comparedWith: '1.0.0',
    isBreaking: null,
  },
];

describe('the check of a publish', () => {
  const hawser = started(startHawser);

  const allRefs = (path: string) => {
    const [, , , kind = '', name = ''] = path.split('/');
    return refsOf(hawser, name, kind.startsWith('composite') ? 'composites' : 'configurations');
  };

  for (const { what, make, blockers, comparedWith, isBreaking } of CASES) {
    const is = blockers.length === 0 ? 'nothing' : blockers.join(', ');
    it(`says of ${what} what publish answers then: ${is}`, async () => {
      const path = await make(hawser);
      const before = allRefs(path);
      const reply = await hawser.admin.get(`${path}/publish-check`);
      const check = await ok(200, reply);
      const members = ['canPublish', 'blockers', 'findings', 'compatibility', 'comparedWith'];
      expect(Object.keys(check)).to.deep.equal(members);
      expect(check).to.include({ canPublish: blockers.length === 0, comparedWith });
      expect(check.blockers.map(({ code }: { code: string }) => code)).to.deep.equal(blockers);
      expect(check.compatibility?.hasBreakingChanges ?? null).to.equal(isBreaking);
      const etag = String(reply.headers['etag']);
      expect((await hawser.admin.get(`${path}/publish-check`, { 'If-None-Match': etag })).status).to.equal(
        304,
      );
      expect(allRefs(path)).to.equal(before);
      const published = await hawser.admin.put(`${path}/publish`);
      if (blockers.length === 0) {
        await ok(200, published);
        return;
      }
      const { code, detail: message, errors = [], compatibilityReport = null } = published.json;
      expect(published.status, published.text).to.equal(409);
      expect(check.blockers[0]).to.deep.equal({ code, message, errors });
      expect(check.compatibility).to.deep.equal(compatibilityReport);
      expect(allRefs(path)).to.equal(before);
    });
  }

  it('shows the faults of a block, and names each child that is not published', async () => {
    const faulty = await ok(200, hawser.admin.get(`${versionOf('strict', '1.1.0')}/publish-check`));
    expect(faulty.blockers[0].errors).to.have.length(1);
    expect(faulty.blockers[0].errors[0]).to.include({ path: '/parameters/port/minLength' });
    const { blockers } = await ok(
      200,
      hawser.admin.get(`${compositeVersionOf('unready', '1.0.0')}/publish-check`),
    );
    const named = blockers.map(({ message }: { message: string }) => /child (\w+)/.exec(message)?.[1]);
    expect(named).to.deep.equal(['breaks', 'fresh']);
  });

  it('lists the files of parameters that a breaking change concerns', async () => {
    await publishBlocks(hawser.admin, 'files', { '1.0.0': { port, host } });
    await saveParameters(hawser, { configuration: 'files', content: 'parameters:\n  host: b\n' });
    await ok(201, addVersion(hawser.admin, 'files', { version: '1.1.0' }, filesOf({ port })));
    const check = await ok(200, hawser.admin.get(`${versionOf('files', '1.1.0')}/publish-check`));
    const { breakingChanges, affectedParameterFiles } = check.compatibility;
    expect(breakingChanges).to.have.length(1);
    expect(affectedParameterFiles).to.have.length(1);
    expect(affectedParameterFiles[0]).to.include({ scopeTypeName: 'Default', needsMigration: true });
  });

  it('is 404 of a version that is not there, as publish is', async () => {
    await ok(201, createComposite(hawser.admin, 'nothing'));
    for (const path of [versionOf('done', '9.9.9'), compositeVersionOf('nothing', '1.0.0')]) {
      await expectProblem(hawser.admin.get(`${path}/publish-check`), 404, 'not_found');
      await expectProblem(hawser.admin.put(`${path}/publish`), 404, 'not_found');
    }
  });
});
