import { expect } from 'chai';
import { CompositeReader } from '../../../src/resolve/composites.ts';
import { type ProposedFile, ProposedVersions } from '../../../src/resolve/proposed-versions.ts';
import { contentOf } from '../../../src/versions/parameter-files.ts';
import { findUnpublishedChildren } from '../../../src/versions/rules.ts';
import type { GitStore, RepositoryRef } from '../../../src/versions/store.ts';
import { ONLY_SERIES } from '../../../src/versions/types.ts';
import { failureOf } from '../../support/failures.ts';
import { ALICE, AT, draftOf, makePublishedWeb, makeWeb, onStore, settingsOf, WEB } from '../git/support.ts';

const PARAMETERS: RepositoryRef = { kind: 'parameters', name: 'web' };
const bytes = (text: string) => Buffer.from(text);

/** Saves a parameter file for every environment `prod`, as a draft or published. */
async function saveFile(store: GitStore, version: string, text: string, isPublished: boolean): Promise<void> {
  const series = 'Environment/prod';
  const content = contentOf(series, { type: 'yaml', bytes: bytes(text) });
  await store.exclusive(PARAMETERS, async (repository) => {
    await repository.writeDraft(series, { ...content, version, author: ALICE, at: AT });
    if (isPublished) await repository.publish(series, version, { tagger: ALICE, at: AT });
  });
}

const fileFor = (version: string, text: string | null, series = 'Environment/prod'): ProposedFile => ({
  ...{ configurationName: 'web', series, version },
  content: text === null ? null : { type: 'yaml', bytes: bytes(text) },
});

const draftOfWeb = (version: string) =>
  ({ kind: 'configurations', name: 'web', series: ONLY_SERIES, version }) as const;

describe('versions as they would be', () => {
  it('count a draft as published, and are otherwise what is stored', () =>
    onStore(async ({ store }) => {
      await makePublishedWeb(store);
      for (const version of ['1.1.0', '2.0.0'])
        await store.exclusive(WEB, (repository) => repository.writeDraft(ONLY_SERIES, draftOf(version)));
      const published = [draftOfWeb('1.1.0')];
      const proposed = new ProposedVersions(store, { published, files: [] });
      const index = await proposed.versions(WEB);
      const told = index.versions.map(({ version, status }) => `${version} ${status}`);
      expect(told).to.deep.equal(['2.0.0 Draft', '1.1.0 Published', '1.0.0 Published']);
      expect(index.published.map(({ version }) => version)).to.deep.equal(['1.1.0', '1.0.0']);
      expect(await proposed.versions(WEB), 'equal lists are the same object').to.equal(index);
      for (const ref of index.versions) {
        const details = await proposed.details(WEB, ref);
        expect(details.status).to.equal(ref.status);
        const [file] = details.files;
        expect((await proposed.blob(WEB, file?.oid ?? '')).toString()).to.equal(`v${ref.version}\n`);
      }
      expect((await store.versions(WEB)).published, 'nothing is stored').to.have.length(1);
    }));

  it('are published children for a composite', () =>
    onStore(async ({ store }) => {
      await makeWeb(store, '1.0.0');
      const published = [draftOfWeb('1.0.0')];
      const proposed = new ProposedVersions(store, { published, files: [] });
      const children = [{ id: '', configuration: 'web', version: null, majorVersion: null, order: 0 }];
      const document = { entryPoint: 'main.dsc.yaml', children };
      expect(await findUnpublishedChildren(store, document)).to.have.length(1);
      expect(await findUnpublishedChildren(proposed, document)).to.deep.equal([]);
      expect(await new CompositeReader(proposed).isChild('web')).to.equal(false);
    }));

  it('hold parameter files that are stored nowhere', () =>
    onStore(async ({ store }) => {
      await store.create(WEB, settingsOf(), draftOf('1.0.0'));
      await saveFile(store, '1.0.0', 'port: 1\n', true);
      await saveFile(store, '1.1.0', 'port: 2\n', false);
      const stored = [fileFor('1.1.0', 'port: 3\n'), fileFor('1.0.0', 'port: 4\n', 'Default')];
      const files = [...stored, fileFor('1.2.0', null)];
      const { parameters } = new ProposedVersions(store, { published: [], files });
      const index = await parameters.index('web');
      expect([...index.series].sort()).to.deep.equal(['Default', 'Environment/prod']);
      const environment = index.of('Environment/prod').published;
      expect(environment.map(({ version }) => version)).to.deep.equal(['1.2.0', '1.1.0', '1.0.0']);
      const texts = await Promise.all(environment.map((ref) => parameters.content('web', ref)));
      expect(texts.map((text) => text?.toString() ?? null)).to.deep.equal([null, 'port: 3\n', 'port: 1\n']);
      const [passthrough, file] = await Promise.all(environment.map((ref) => parameters.details('web', ref)));
      expect(passthrough).to.include({ isPassthrough: true, contentType: null, oid: null, size: 0 });
      expect(file).to.include({ isPassthrough: false, contentType: 'yaml', status: 'Published', size: 8 });
      expect(index.of('Default').published.map(({ version }) => version)).to.deep.equal(['1.0.0']);
      const again = (await parameters.index('web')).of('Default');
      expect(again, 'equal lists are the same object').to.equal(index.of('Default'));
    }));

  it('are there where no parameter file is stored at all', () =>
    onStore(async ({ store }) => {
      await makeWeb(store);
      const proposed = new ProposedVersions(store, { published: [], files: [fileFor('1.0.0', 'port: 1\n')] });
      expect([await store.has(PARAMETERS), await proposed.has(PARAMETERS)]).to.deep.equal([false, true]);
      const [ref] = (await proposed.parameters.index('web')).of('Environment/prod').published;
      expect(ref && (await proposed.parameters.content('web', ref))?.toString()).to.equal('port: 1\n');
    }));

  it('are refused where the draft has been deleted, or the file published, meanwhile', () =>
    onStore(async ({ store }) => {
      await makeWeb(store);
      await saveFile(store, '1.0.0', 'port: 1\n', true);
      const published = [draftOfWeb('9.0.0')];
      const proposed = new ProposedVersions(store, { published, files: [fileFor('1.0.0', 'port: 2\n')] });
      const gone = await failureOf(proposed.versions(WEB));
      expect(gone).to.include({ code: 'not_found', message: 'The draft 9.0.0 has been deleted meanwhile' });
      const index = await proposed.parameters.index('web');
      expect(() => index.of('Environment/prod')).to.throw('The version 1.0.0 has been published meanwhile');
    }));

  it('tell files of other content from each other', () =>
    onStore(async ({ store }) => {
      await makeWeb(store);
      const oids = new Set<string | undefined>();
      for (const text of ['a: 1\n', 'a: 2\n', null]) {
        const proposed = new ProposedVersions(store, { published: [], files: [fileFor('1.0.0', text)] });
        oids.add((await proposed.parameters.index('web')).of('Environment/prod').get('1.0.0')?.oid);
      }
      expect(oids).to.have.length(3);
    }));
});
