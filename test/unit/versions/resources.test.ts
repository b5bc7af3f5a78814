import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/open.ts';
import { nameLock } from '../../../src/domain/lock-names.ts';
import { LocalLocks } from '../../../src/lib/locks.ts';
import { createLog } from '../../../src/lib/log.ts';
import { actorOf } from '../../../src/security/audit.ts';
import type { UserPrincipal } from '../../../src/security/principal.ts';
import { createResource, deleteResource, type ResourceTools } from '../../../src/versions/resources.ts';
import { requireRow } from '../../../src/versions/rows.ts';
import type { GitStore } from '../../../src/versions/store.ts';
import { placeOf } from '../../support/engine.ts';
import { eventually } from '../../support/eventually.ts';
import { AT, codeOf, makeStore } from '../git/support.ts';

const ADA: UserPrincipal = {
  ...{ kind: 'user', userId: 'u', username: 'ada', email: 'ada@example.org', accountType: 'User' },
  ...{ authMethod: 'Session', credentialId: 'c', scopes: null, credentialEndsAt: null },
} as UserPrincipal;

/** Counts who has asked for a lock. */
class CountingLocks extends LocalLocks {
  asked = 0;

  override run<T>(key: string, work: () => Promise<T>): Promise<T> {
    this.asked += 1;
    return super.run(key, work);
  }
}

describe('a resource that is made', () => {
  let root: string;
  let database: Database;
  let store: GitStore;
  let locks: CountingLocks;
  let tools: ResourceTools;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'hawser-resources-'));
    database = await openDatabase(await placeOf(join(root, 'data')));
    locks = new CountingLocks();
    store = makeStore(join(root, 'repos'), []);
    await store.prepare();
    tools = { database, store, locks, log: createLog('silent') };
  });
  afterEach(async () => {
    await store.close();
    await database.close();
    rmSync(root, { recursive: true });
  });

  for (const kind of ['configurations', 'composites'] as const)
    it(`can be told of, though somebody deletes it at once: ${kind}`, async () => {
      const actor = actorOf(ADA, { address: '::1', requestId: 'r', now: AT });
      const facts = { description: null, useServerManagedParameters: false, entryPoint: 'main.dsc.yaml' };
      const made = { kind, name: 'web', ...facts, draft: null };
      let deleting: Promise<void> | undefined;
      const row = await createResource(tools, { principal: ADA, actor }, made, async (id) => {
        const { asked } = locks;
        deleting = deleteResource(tools, kind, { resource: { id, name: 'web', level: 'Manage' }, actor });
        await eventually(async () => expect(locks.asked).to.be.above(asked));
        expect(await locks.acquireIfFree(nameLock(kind, 'web')), 'the lock of the name').to.equal(null);
        return requireRow(database.read, kind, id);
      });
      expect(row.name).to.equal('web');
      await deleting;
      expect(await codeOf(requireRow(database.read, kind, row.id))).to.equal('not_found');
    });
});
