import { mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Database, Db } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { listScopeMoves } from '../../src/db/scope-moves.ts';
import { SCOPE_VALUES, type ScopeValueRow } from '../../src/db/scope-types.ts';
import { createScopeType, createScopeValue } from '../../src/deeds/change-scope-type.ts';
import { LocalLocks } from '../../src/lib/locks.ts';
import { createLog } from '../../src/lib/log.ts';
import { systemActor } from '../../src/security/audit.ts';
import { ensureBuiltIns } from '../../src/security/built-ins.ts';
import { contentOf } from '../../src/versions/parameter-files.ts';
import { endAllScopeMoves, moveScope, type ScopeMoveTools } from '../../src/versions/scope-moves.ts';
import type { GitStore } from '../../src/versions/store.ts';
import { placeOf } from '../support/engine.ts';
import { ageLocks, BreakingFs, breakEverywhere } from '../unit/git/breaking.ts';
import {
  DEFAULT,
  filesOf,
  PARAMETERS,
  PROD,
  portOf,
  publishFile,
  putSchema,
  release,
  textOf,
  WEB_PARAMETERS,
  writeFile,
} from '../unit/git/parameter-support.ts';
import { ALICE, AT, makeStore, runGit } from '../unit/git/support.ts';

describe('the parameters when the disk fails', () => {
  it('have a published version or a draft, wherever the publishing broke off, and one commit for it', async () => {
    const seen = new Set<string>();
    const breaks = await breakEverywhere(
      async (store) => {
        await release(store, PROD, '1.0.0', portOf(1));
        await writeFile(store, PROD, '1.1.0', portOf(2));
      },
      (store) => publishFile(store, PROD, '1.1.0'),
      async (store, gitdir) => {
        const [state] = await filesOf(store, PROD);
        seen.add(state ?? '');
        if (state === '1.1.0 Draft') await publishFile(store, PROD, '1.1.0');
        expect(await filesOf(store, PROD)).to.deep.equal(['1.1.0 Published', '1.0.0 Published']);
        expect(runGit(gitdir, 'log', '--format=%s', 'Environment')).to.equal(
          'Environment/prod 1.1.0\nEnvironment/prod 1.0.0',
        );
        expect(runGit(gitdir, 'show', 'Environment:prod/parameters.yaml')).to.equal(portOf(2).trim());
        expect(runGit(gitdir, 'for-each-ref', '--format=%(refname)', 'refs/heads')).to.equal(
          'refs/heads/Environment',
        );
        expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
        await store.exclusive(PARAMETERS, async () => undefined);
        runGit(gitdir, 'pack-refs', '--all');
      },
      'parameters',
    );
    expect(breaks).to.be.greaterThan(20);
    expect([...seen]).to.have.members(['1.1.0 Draft', '1.1.0 Published']);
  }).timeout(240_000);

  it('have a first draft or nothing, wherever the writing broke off', async () => {
    const seen = new Set<string>();
    await breakEverywhere(
      async () => undefined,
      (store) => writeFile(store, PROD, '1.0.0'),
      async (store, gitdir) => {
        const files = await filesOf(store, PROD);
        seen.add(files.join());
        await writeFile(store, PROD, '1.0.0', portOf(7));
        expect(await textOf(store, PROD, '1.0.0')).to.equal(portOf(7));
        expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
      },
      'parameters',
    );
    expect([...seen]).to.have.members(['', '1.0.0 Draft']);
  });

  it('have the old schema or the new, wherever the upload broke off', async () => {
    const put = (store: GitStore, text: string) => putSchema(store, '1.0.0', text);
    const seen = new Set<string>();
    await breakEverywhere(
      async (store) => void (await put(store, 'old')),
      (store) => put(store, 'new'),
      async (store) => {
        const [schema] = (await store.parameters.index(WEB_PARAMETERS)).of('schema').versions;
        const content = await store.parameters.content(WEB_PARAMETERS, schema ?? expect.fail());
        seen.add(content?.toString() ?? '');
      },
      'parameters',
    );
    expect([...seen]).to.have.members(['old', 'new']);
  });

  it('leave no folder behind where the last of several drafts goes', async () => {
    await breakEverywhere(
      async (store) => {
        await release(store, DEFAULT, '1.0.0');
        await writeFile(store, PROD, '1.0.0');
      },
      (store) => store.exclusive(PARAMETERS, (p) => p.deleteDraft(PROD, '1.0.0')),
      async (store, gitdir) => {
        const files = await filesOf(store, PROD);
        if (files.length > 0) {
          expect(files).to.deep.equal(['1.0.0 Draft']);
          await store.exclusive(PARAMETERS, (p) => p.deleteDraft(PROD, '1.0.0'));
          expect(await readdir(join(gitdir, 'refs/heads/draft'))).to.deep.equal([]);
        }
        expect(await filesOf(store, PROD)).to.deep.equal([]);
        expect(await filesOf(store, DEFAULT)).to.deep.equal(['1.0.0 Published']);
      },
      'parameters',
    );
  });

  it('have withdrawn a file or not, and removed it or not, wherever that broke off, and never offer it by halves', async () => {
    const by = { tagger: ALICE, at: AT, reason: 'bad' };
    const withdraw = (store: GitStore) =>
      store.exclusive(PARAMETERS, (parameters) => parameters.withdraw(PROD, '1.1.0', by));
    const remove = (store: GitStore) =>
      store.exclusive(PARAMETERS, (parameters) =>
        parameters.deleteVersions(parameters.index.of(PROD).versions.slice(0, 1)),
      );
    for (const work of [withdraw, remove]) {
      const seen = new Set<string>();
      await breakEverywhere(
        async (store) => {
          for (const version of ['1.0.0', '1.1.0']) await release(store, PROD, version);
          if (work === remove) await withdraw(store);
        },
        work,
        async (store, gitdir) => {
          const { versions, published } = (await store.parameters.index(WEB_PARAMETERS)).of(PROD);
          const offered = published.map(({ version }) => version).join();
          seen.add(`${versions.length} ${offered}`);
          await store.exclusive(PARAMETERS, async () => undefined);
          const isLeft = versions.length === 2 && offered === '1.0.0';
          expect(runGit(gitdir, 'tag', '--list', 'withdrawn/*')).to.equal(
            isLeft ? 'withdrawn/Environment/prod/v1.1.0' : '',
          );
          expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
        },
        'parameters',
      );
      expect([...seen]).to.have.members(
        work === withdraw ? ['2 1.1.0,1.0.0', '2 1.0.0'] : ['2 1.0.0', '1 1.0.0'],
      );
    }
  }).timeout(240_000);

  it('of several configurations have the old name of a scope or the new one, wherever its change broke off', async () => {
    const held = new Set<string>();
    let breaks = 0;
    for (let left = 0, isThrough = false; !isThrough; left += 31) {
      const root = mkdtempSync(join(tmpdir(), 'hawser-moves-'));
      const database = await openDatabase(await placeOf(join(root, 'data')));
      const fs = new BreakingFs();
      const store = makeStore(join(root, 'repos'), [], { fs });
      const tools = { database, store, locks: new LocalLocks(), log: createLog('silent') };
      try {
        await ensureBuiltIns(database, AT);
        await store.prepare();
        for (const name of ['till', 'web']) await filesIn(store, name);
        const scope = await makeScope(database);
        fs.left = left;
        await moveTo(tools, scope, 'live').catch(() => undefined);
        isThrough = fs.left >= 0;
        breaks += 1;
        await store.close();
        await ageLocks(join(root, 'repos'));
        held.add(await startedAnew({ ...tools, store: makeStore(join(root, 'repos'), []) }, root));
      } finally {
        await database.close();
        rmSync(root, { recursive: true, force: true });
      }
    }
    expect(breaks).to.be.greaterThan(4);
    expect([...held]).to.have.members(['prod', 'live']);
  }).timeout(240_000);
});

async function filesIn(store: GitStore, name: string): Promise<void> {
  await store.exclusive({ kind: 'parameters', name }, async (parameters) => {
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      const content = contentOf(PROD, { type: 'yaml', bytes: Buffer.from(portOf(1)) });
      await parameters.writeDraft(PROD, { ...content, version, author: ALICE, at: AT });
      if (version !== '1.2.0') await parameters.publish(PROD, version, { tagger: ALICE, at: AT });
    }
    await parameters.withdraw(PROD, '1.1.0', { tagger: ALICE, at: AT, reason: 'bad' });
  });
}

function makeScope({ write }: Database): Promise<ScopeValueRow> {
  return write.transaction().execute(async (trx) => {
    const type = { name: 'Environment', description: null, valueMode: 'Restricted' } as const;
    const { id } = await createScopeType(trx, systemActor(AT), type);
    return createScopeValue(trx, systemActor(AT), id, { value: 'prod', description: null });
  });
}

function moveTo(tools: ScopeMoveTools, row: ScopeValueRow, to: string): Promise<unknown> {
  const scope = { scopeType: 'Environment', value: row.value };
  const moved = { scopeTypeId: row.scope_type_id, scopeValueId: row.id, scope };
  const change = (trx: Db) => SCOPE_VALUES.update(trx, row.id, { value: to, value_key: to });
  return moveScope(tools, moved, { to, actor: systemActor(AT), change });
}

/** @returns the name that holds everywhere after a start */
async function startedAnew(tools: ScopeMoveTools, root: string): Promise<string> {
  const { database, store } = tools;
  await store.prepare();
  await endAllScopeMoves(tools, AT);
  const { value } = await database.read.selectFrom('scope_values').select('value').executeTakeFirstOrThrow();
  expect((await listScopeMoves(database.read)).filter(({ done_at }) => done_at === null)).to.deep.equal([]);
  for (const name of ['till', 'web']) {
    const index = await store.parameters.index(name);
    expect(index.series).to.deep.equal([`Environment/${value}`]);
    const states = index
      .of(`Environment/${value}`)
      .versions.map(({ version, status }) => `${version} ${status}`);
    expect(states).to.deep.equal(['1.2.0 Draft', '1.1.0 Published', '1.0.0 Published']);
    const offered = index.of(`Environment/${value}`).published.map(({ version }) => version);
    expect(offered, 'what was taken back stays taken back').to.deep.equal(['1.0.0']);
    const gitdir = join(root, 'repos', 'parameters', `${name}.git`);
    expect(runGit(gitdir, 'ls-tree', '-r', '--name-only', 'Environment')).to.equal(
      `${value}/parameters.yaml`,
    );
    const former = runGit(gitdir, 'tag', '--list', 'renamed/*');
    const kept = ['1.0.0', '1.1.0'].map((version) => `renamed/Environment/prod/v${version}`);
    expect(former).to.equal(value === 'live' ? kept.join('\n') : '');
    expect(runGit(gitdir, 'tag', '--list', 'withdrawn/*')).to.equal(`withdrawn/Environment/${value}/v1.1.0`);
    expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
  }
  await store.close();
  return value;
}
