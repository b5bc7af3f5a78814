/** The tags and rollouts of a repository outside of this server, or of a bundle, as stock git reads them. */

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { notFound } from '../lib/errors.ts';
import { AtomicFs } from './atomic-fs.ts';
import { readObjects, type TypedObject } from './batch-objects.ts';
import { readShallow } from './history.ts';
import { type PackSource, runGit } from './repository-export.ts';

/** A tag, or the branch of a rollout, which says of a version what a tag cannot. */
export interface SourceTag {
  /** The full name of the ref. */
  name: string;
  oid: string;
  /** False for a lightweight tag. */
  isAnnotated: boolean;
}

const ROLLOUTS = 'refs/heads/rollout/';

export class TagSource {
  readonly tags: readonly SourceTag[];
  private readonly source: PackSource;
  private readonly shallow: ReadonlySet<string>;
  /** What was given already. */
  private readonly given = new Set<string>();

  private constructor(source: PackSource, tags: readonly SourceTag[], shallow: ReadonlySet<string>) {
    this.source = source;
    this.tags = tags;
    this.shallow = shallow;
  }

  /**
   * @param path a repository, bare or not, or a bundle
   * @param folder an empty folder for the objects of a bundle
   * @throws HawserError not_found when there is neither; `repository_damaged`, with what git says as its cause
   */
  static async open(path: string, folder: string, searchPath: string): Promise<TagSource> {
    const given = resolve(path);
    const stats = await stat(given).catch(() => null);
    if (stats === null) throw notFound(`${path} cannot be read`);
    const run = (...args: string[]) => runGit({ searchPath, args }, []);
    if (stats.isDirectory()) {
      const gitdir = (await run('-C', given, 'rev-parse', '--absolute-git-dir')).trim();
      const tags = await run(
        `--git-dir=${gitdir}`,
        'for-each-ref',
        '--format=%(objectname) %(refname)',
        'refs/tags',
        ROLLOUTS,
      );
      return TagSource.read({ gitdir, searchPath }, tags);
    }
    await run('init', '--quiet', '--bare', folder);
    const heads = await run(`--git-dir=${folder}`, 'bundle', 'unbundle', given);
    return TagSource.read({ gitdir: folder, searchPath }, heads);
  }

  private static async read(source: PackSource, heads: string): Promise<TagSource> {
    const found = [...heads.matchAll(/^([0-9a-f]{40}) (refs\/(?:tags|heads\/rollout)\/.+)$/gm)];
    const command = {
      searchPath: source.searchPath,
      args: [`--git-dir=${source.gitdir}`, 'cat-file', '--batch-check=%(objecttype)'],
    };
    const types = (
      await runGit(
        command,
        found.map(([, oid = '']) => oid),
      )
    ).split('\n');
    const tags = found.map(([, oid = '', name = ''], at) => ({
      name,
      oid,
      isAnnotated: types[at] === 'tag' || name.startsWith(ROLLOUTS),
    }));
    return new TagSource(source, tags, await readShallow(new AtomicFs(), source.gitdir));
  }

  /**
   * Gives what these tags lead to and was not given before.
   * @returns `ends` are the commits at which the source's history ends
   */
  async objectsOf(
    oids: readonly string[],
  ): Promise<{ objects: AsyncIterable<TypedObject>; ends: readonly string[] }> {
    const { gitdir, searchPath } = this.source;
    const args = [`--git-dir=${gitdir}`, 'rev-list', '--objects', '--no-object-names', '--stdin'];
    const listed = (await runGit({ searchPath, args }, oids)).match(/^[0-9a-f]{40}$/gm) ?? [];
    const all = [...new Set([...oids, ...listed])];
    const added = all.filter((oid) => !this.given.has(oid));
    for (const oid of added) this.given.add(oid);
    return {
      objects: readObjects(this.source, added),
      ends: all.filter((oid) => this.shallow.has(oid)),
    };
  }
}
