/** Configurations, composites and parameter files in real repositories, and what nodes get of them before and after changes. */

import { gunzipSync } from 'node:zlib';
import type { ScopeLink } from '../../src/db/node-lookup.ts';
import type { Reading, RowQuery } from '../../src/db/reading.ts';
import { CompositeReader } from '../../src/resolve/composites.ts';
import type { Delivery, GivenFile } from '../../src/resolve/delivery.ts';
import { documentTasks } from '../../src/resolve/document-tasks.ts';
import { Documents } from '../../src/resolve/documents.ts';
import { EntryPoints } from '../../src/resolve/entry-points.ts';
import type { Fleet } from '../../src/resolve/fleet.ts';
import { HeldKeys } from '../../src/resolve/held-keys.ts';
import { ManifestMaker } from '../../src/resolve/manifest-maker.ts';
import { besideParameters, chooseFiles, ParameterReader } from '../../src/resolve/parameters.ts';
import { PLAIN_MERGING } from '../../src/resolve/planned-merging.ts';
import type { ConfigurationPlan, Plan } from '../../src/resolve/plans.ts';
import { DetailsMaker } from '../../src/resolve/preview-details.ts';
import { type GroupFacts, GroupFactsMaker } from '../../src/resolve/preview-group-facts.ts';
import { previewQuestions } from '../../src/resolve/preview-questions.ts';
import type { KeptColumn } from '../../src/resolve/preview-types.ts';
import { type ProposedChanges, ProposedVersions } from '../../src/resolve/proposed-versions.ts';
import { SchemaReader } from '../../src/resolve/schemas.ts';
import { SeriesPlaces } from '../../src/resolve/series-places.ts';
import { contentOf } from '../../src/versions/parameter-files.ts';
import type { FileContent, GitStore, RepositoryKind } from '../../src/versions/store.ts';
import type { VersionSource } from '../../src/versions/version-source.ts';
import { ALICE, AT, BOB, file, settingsOf } from '../unit/git/support.ts';

/** What is assigned, and the scopes of the node beside Default: `Environment/prod`. */
export interface Wanted {
  kind?: 'configurations' | 'composites';
  name: string;
  version: string;
  scopes?: readonly string[];
  /** Whether the server manages the parameters. Default: true. */
  isManaged?: boolean;
}

export const NO_CHANGES: ProposedChanges = { published: [], files: [] };

type Room = ConstructorParameters<typeof DetailsMaker>[1];

/** For tasks that send nothing before their result. */
const inPlace = <T>(tasks: Record<string, (input: never, send: never) => unknown>) =>
  ({
    run: async (_caller: string, name: string, input: never) => tasks[name]?.(input, undefined as never),
  }) as T;

/** Contents by path; an entry point is added. */
export function filesOf(contents: Record<string, string | Buffer>): FileContent[] {
  const all = { 'main.dsc.yaml': '$schema: x\nresources: []\n', ...contents };
  return Object.entries(all).map(([path, content]) =>
    typeof content === 'string' ? file(path, content) : { path, content },
  );
}

/** An entry point that declares these parameters by their types. */
export function declaring(types: Record<string, string>, rest = ''): string {
  const lines = Object.entries(types).map(([name, type]) => `  ${name}: {type: ${type}}\n`);
  return `$schema: x\nparameters:${lines.length === 0 ? ' {}\n' : `\n${lines.join('')}`}resources: []\n${rest}`;
}

export class PreviewSite {
  readonly store: GitStore;
  private readonly documents = new Documents(inPlace(documentTasks(new HeldKeys())), new HeldKeys());
  private readonly places = new SeriesPlaces(() => undefined);

  constructor(store: GitStore) {
    this.store = store;
  }

  /** Makes a version, and the configuration with the first one. */
  async version(
    name: string,
    version: string,
    contents: Record<string, string | Buffer>,
    isPublished = true,
  ): Promise<void> {
    await this.write('configurations', name, version, filesOf(contents), isPublished);
  }

  /** @param children the names, with the versions to which they are pinned */
  async composite(name: string, version: string, children: Record<string, string>): Promise<void> {
    const all = Object.entries(children).map(([configuration, pinned], order) => {
      return {
        id: `00000000-0000-4000-8000-${String(order).padStart(12, '0')}`,
        configuration,
        version: pinned,
        order,
      };
    });
    const text = JSON.stringify({ entryPoint: 'main.dsc.yaml', children: all });
    await this.write('composites', name, version, [file('composite.json', text)], true);
  }

  /** Writes a parameter file. Null text skips the scope. */
  async parameters(name: string, series: string, version: string, text: string | null, isPublished = true) {
    const content = contentOf(series, text === null ? null : { type: 'yaml', bytes: Buffer.from(text) });
    await this.store.exclusive({ kind: 'parameters', name }, async (repository) => {
      await repository.writeDraft(series, { ...content, version, author: ALICE, at: AT });
      if (isPublished) await repository.publish(series, version, { tagger: BOB, at: AT });
    });
  }

  /** What a node gets, of the stored versions or of those that the changes make. */
  async deliver(wanted: Wanted, changes?: ProposedChanges): Promise<Delivery> {
    return this.sideOf(changes).deliver(wanted);
  }

  /** The facts of a group, and how they are kept. */
  async preview(before: Wanted | null, after: Wanted | null, changes = NO_CHANGES, most?: Room) {
    const [old, next] = [this.sideOf(), this.sideOf(changes)];
    const maker = new GroupFactsMaker(old, next, this.documents);
    const group = await maker.sidesOf(
      before && (await old.deliver(before)),
      after && (await next.deliver(after)),
    );
    const facts = await maker.factsOf(group);
    const details = new DetailsMaker({ store: this.store, documents: this.documents }, most);
    // Another group is kept before it, so that nothing is found by chance.
    await details.keep({ before: null, after: null }, true);
    const line = (await details.keep(group, true)) as number;
    const hasMoreRoom = (await details.keep(group, true)) !== null;
    return new KeptPreview(facts, { line, bytes: details.end(), hasMoreRoom });
  }

  private sideOf(changes: ProposedChanges = NO_CHANGES) {
    const source = new ProposedVersions(this.store, changes);
    const parameters = new ParameterReader(source, { documents: this.documents, places: this.places });
    const entryPoints = new EntryPoints(this.documents);
    const schemas = new SchemaReader(source, { parameters, documents: this.documents, entryPoints });
    return { schemas, parameters, deliver: (wanted: Wanted) => deliver(source, parameters, wanted) };
  }

  private async write(
    kind: RepositoryKind,
    name: string,
    version: string,
    files: readonly FileContent[],
    isPublished: boolean,
  ): Promise<void> {
    const draft = { version, entryPoint: 'main.dsc.yaml', files, author: ALICE, at: AT };
    const isNew = !(await this.store.has({ kind, name }));
    if (isNew) await this.store.create({ kind, name }, settingsOf(), draft);
    await this.store.exclusive({ kind, name }, async (repository) => {
      if (!isNew) await repository.writeDraft('', draft);
      if (isPublished) await repository.publish('', version, { tagger: BOB, at: AT });
    });
  }
}

interface Kept {
  line: number;
  bytes: Buffer;
  hasMoreRoom: boolean;
}

/** A group that was previewed, and what is answered about it from what was kept alone. */
export class KeptPreview {
  readonly facts: GroupFacts;
  /** All that is kept, as text. */
  readonly kept: string;
  readonly hasMoreRoom: boolean;
  private readonly line: number;
  private readonly questions: ReturnType<typeof previewQuestions>;

  constructor(facts: GroupFacts, { line, bytes, hasMoreRoom }: Kept) {
    this.hasMoreRoom = hasMoreRoom;
    this.facts = facts;
    this.line = line;
    this.kept = gunzipSync(bytes).toString();
    this.questions = previewQuestions(fleetThatKept({ details: bytes }));
  }

  /** The text of the details with merged parameters. */
  async text(): Promise<string> {
    return Buffer.from(await this.questions.previewDetails({ id: '', line: this.line })).toString();
  }

  async all() {
    return JSON.parse(await this.text());
  }

  /** The listed parameters as `path before after`, and the versions of their files. */
  async parameters(): Promise<string[]> {
    const { parameters } = await this.all();
    return parameters.map(({ path, before, after }: Record<string, unknown>) =>
      [path, JSON.stringify(before), JSON.stringify(after)].join(' '),
    );
  }

  async changes(): Promise<string[]> {
    const { fileChanges } = await this.all();
    return fileChanges.map(({ change, path, previousPath }: Record<string, string | null>) =>
      [change, path, ...(previousPath === null ? [] : [previousPath])].join(' '),
    );
  }

  /** The removed and added lines of a file; null where there is none. */
  async lines(path: string): Promise<string[] | null> {
    const diff = await this.fileDiff(path);
    const lines = diff?.hunks.flatMap((hunk: { lines: { kind: string; text: string }[] }) => hunk.lines);
    const signs: Record<string, string> = { Added: '+', Removed: '-' };
    return (
      lines?.flatMap(({ kind, text }: { kind: string; text: string }) =>
        kind === 'Context' ? [] : [`${signs[kind]}${text}`],
      ) ?? null
    );
  }

  async fileDiff(path: string, context = 3) {
    const bytes = await this.questions.previewFile({ id: '', line: this.line, path, context });
    return bytes && JSON.parse(Buffer.from(bytes).toString());
  }
}

/** What reads columns of one preview in place of a fleet's database. */
export function fleetThatKept(columns: Partial<Record<KeptColumn, Buffer>>): () => Fleet {
  return fleetOf(async ({ sql }) => [[columns[/^select (\w+)/.exec(sql)?.[1] as KeptColumn]]]);
}

/** A fleet whose database is asked one query. @param rowsOf gives its rows */
export function fleetOf(rowsOf: (query: RowQuery) => Promise<unknown[][]>): () => Fleet {
  const read = async <T>(reading: Reading<T>) => {
    const query = reading.next().value as RowQuery;
    for (const row of await rowsOf(query)) query.take(row);
    return reading.next().value;
  };
  return () => ({ database: { read } }) as unknown as Fleet;
}

async function deliver(
  source: VersionSource,
  parameters: ParameterReader,
  { kind = 'configurations', name, version, scopes = [], isManaged = true }: Wanted,
): Promise<Delivery> {
  const planOf = async (child: string, pinned: string): Promise<ConfigurationPlan> => {
    const tag = (await source.versions({ kind: 'configurations', name: child })).get(pinned);
    if (tag?.status !== 'Published') throw new Error(`${child} ${pinned} is not published`);
    const { entryPoint, files } = await source.details({ kind: 'configurations', name: child }, tag);
    const index = isManaged ? await parameters.index(child) : null;
    const filesBesideParameters = besideParameters(files);
    return {
      kind: 'configuration',
      id: child,
      name: child,
      tag,
      entryPoint,
      files,
      filesBesideParameters,
      parameters: index,
      closed: [],
      merging: PLAIN_MERGING,
    };
  };
  const links = ['Default', ...scopes].map((series, precedence): ScopeLink => {
    const [scopeTypeName = '', scopeValue = null] = series.split('/');
    return { scopeTypeId: scopeTypeName, scopeTypeName, scopeValue, scopeValueId: scopeValue, precedence };
  });
  const given = (plan: ConfigurationPlan) =>
    chooseFiles(plan, links, {
      configurationVersion: plan.tag.version,
      prereleaseChannel: null,
    }).filter((scope): scope is GivenFile => scope.file !== null);
  let plan: Plan;
  if (kind === 'composites') {
    const repository = { kind, name };
    const tag = (await source.versions(repository)).get(version);
    if (tag === undefined) throw new Error(`there is no ${name} ${version}`);
    const { entryPoint, children } = await new CompositeReader(source).document(repository, tag);
    const plans: ConfigurationPlan[] = [];
    for (const child of children) plans.push(await planOf(child.configuration, child.version ?? ''));
    plan = { kind: 'composite', name, tag, entryPoint, children: plans };
  } else plan = await planOf(name, version);
  const parts = plan.kind === 'composite' ? plan.children : [plan];
  return new ManifestMaker(source, parameters).deliver(plan, parts.map(given), null);
}
