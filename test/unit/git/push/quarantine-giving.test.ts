// full: SQLite
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { AtomicFs } from '../../../../src/git/atomic-fs.ts';
import { FolderObjects } from '../../../../src/git/folder-objects.ts';
import { PackCaches } from '../../../../src/git/object-caches.ts';
import { type GivenObject, ObjectStore } from '../../../../src/git/objects.ts';
import { entry, idOf, packWith, tree } from '../../../support/hand-made-pack.ts';
import { failureOf, MIB, Site } from './quarantine-support.ts';

describe('what a quarantine gives to a repository', () => {
  let site: Site;
  let objects: ObjectStore;

  beforeEach(() => {
    site = new Site();
    const fs = new AtomicFs();
    objects = new ObjectStore(new FolderObjects(fs, new PackCaches(fs, MIB)));
  });
  afterEach(() => site.close());

  it('is there for stock git, and large files of it are never in memory as a whole', async () => {
    const [large, larger] = [randomBytes(24 * MIB), Buffer.alloc(32 * MIB, 'a')];
    const commit = site.commit({ small: 'small', large, larger });
    const quarantine = await site.received(site.pack([commit]), [commit]);
    const memory = watchBuffers();
    await objects.writeAll(site.gitdir, quarantine.giveAll());
    expect(memory.grown()).to.be.below(16 * MIB);
    site.server('update-ref', 'refs/heads/main', commit);
    expect(site.server('fsck', '--full', '--strict')).to.not.match(/error|missing|corrupt/);
    for (const [path, content] of Object.entries({ large, larger }))
      expect(site.server('rev-parse', `main:${path}`)).to.equal(idOf('blob', content));
  }).timeout(60_000);

  it('may be there already, also where no ref leads to it', async () => {
    const commit = site.commit({ large: randomBytes(2 * MIB) });
    for (const pack of [site.pack([commit]), null]) {
      const quarantine = await site.received(pack, [commit]);
      await objects.writeAll(site.gitdir, quarantine.giveAll());
    }
    site.server('update-ref', 'refs/heads/main', commit);
    expect(site.server('fsck', '--full', '--strict')).to.not.match(/error|missing|corrupt/);
  });

  it('leaves nothing of a large file that is not what its id says', async () => {
    const content = randomBytes(2 * MIB);
    async function* given(): AsyncGenerator<GivenObject> {
      async function* chunks() {
        yield content;
      }
      yield { oid: idOf('blob', Buffer.from('other')), type: 'blob', size: content.length, chunks: chunks() };
    }
    const { code } = await failureOf(objects.writeAll(site.gitdir, given()));
    expect(code).to.equal('repository_damaged');
    const left = readdirSync(join(site.gitdir, 'objects'), { recursive: true }).map(String);
    expect(left.filter((name) => /[0-9a-f]{30}/.test(name))).to.deep.equal([]);
  });

  it('has no folder of more than 8 MiB, which would be in memory as a whole', async () => {
    const oid = idOf('blob', Buffer.from('x'));
    const names = Array.from(
      { length: 35_000 },
      (_, at) => `${'n'.repeat(220)}${String(at).padStart(6, '0')}`,
    );
    const content = tree(...names.map((name) => ['100644', name, oid] as const));
    const pack = packWith([entry('blob', Buffer.from('x')), entry('tree', content)]);
    const failure = await failureOf(site.received(pack, [idOf('tree', content)]));
    const message = 'A folder, commit or tag of the push has more than 8388608 bytes';
    expect(failure).to.deep.equal({ code: 'payload_too_large', message });
  });
});

/** Looks at the bytes of the buffers that this process needs, again and again, but for a tenth of the time at most. */
function watchBuffers() {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const bytes = () => {
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const before = bytes();
  let most = before;
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const start = performance.now();
    most = Math.max(most, bytes());
    // In a process that has much to collect, one look takes a second.
    timer = setTimeout(look, 10 * (performance.now() - start));
  };
  look();
  return {
    grown: () => {
      clearTimeout(timer);
      return most - before;
    },
  };
}
