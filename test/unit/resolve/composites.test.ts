import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { COMPOSITE_FILE, printComposite } from '../../../src/domain/composite-document.ts';
import { newId } from '../../../src/lib/ids.ts';
import { CompositeReader } from '../../../src/resolve/composites.ts';
import type { GitStore, RepositoryKind, RepositoryRef } from '../../../src/versions/store.ts';
import { ALICE, AT, codeOf, onStore } from '../git/support.ts';

const SETTINGS = {
  ...{ id: newId(), description: null, createdBy: '', createdAt: AT },
  ...{ useServerManagedParameters: false, entryPoint: 'main.dsc.yaml' },
};
const composite = (name: string): RepositoryRef => ({ kind: 'composites', name });

async function makeComposite(store: GitStore, name: string, child: string): Promise<void> {
  const children = [{ id: newId(), configuration: child, version: null, majorVersion: null, order: 0 }];
  const content = Buffer.from(printComposite({ entryPoint: 'main.dsc.yaml', children }));
  await store.create(composite(name), SETTINGS, {
    ...{ version: '1.0.0', entryPoint: 'main.dsc.yaml', author: ALICE, at: AT },
    files: [{ path: COMPOSITE_FILE, content }],
  });
}

/** The same store, where something happens right after its repositories have been listed. */
function interrupted(store: GitStore, happens: () => Promise<void>): GitStore {
  const list = async (kind: RepositoryKind) => {
    const names = await store.list(kind);
    await happens();
    return names;
  };
  return Object.assign(Object.create(store) as GitStore, { list });
}

describe('the children of all composites', () => {
  it('are found in each of them', () =>
    onStore(async ({ store }) => {
      await makeComposite(store, 'a', 'web');
      await makeComposite(store, 'b', 'db');
      const reader = new CompositeReader(store);
      expect([await reader.isChild('db'), await reader.isChild('other')]).to.deep.equal([true, false]);
    }));

  it('are not asked of a composite that is deleted while they are looked for', () =>
    onStore(async ({ store }) => {
      await makeComposite(store, 'a', 'web');
      await makeComposite(store, 'b', 'db');
      const reader = new CompositeReader(interrupted(store, () => store.remove(composite('a'))));
      expect([await reader.isChild('web'), await reader.isChild('db')]).to.deep.equal([false, true]);
      expect(store.problems()).to.deep.equal([]);
    }));

  it('are not taken for none where a composite cannot be read', () =>
    onStore(async ({ store, root }) => {
      await makeComposite(store, 'a', 'web');
      const objects = join(root, 'composites', 'a.git', 'objects');
      const reader = new CompositeReader(interrupted(store, () => rename(objects, `${objects}.away`)));
      expect(await codeOf(reader.isChild('other'))).to.equal('repository_damaged');
    }));
});
