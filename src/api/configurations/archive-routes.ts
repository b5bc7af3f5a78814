/** `/api/v1/configurations/{name}/versions/{version}/archive`: the files of a version as they were uploaded, in one ZIP. */

import { type BundleDownloads, ZIP_HEADERS, zipDownload } from '../../bundles/downloads.ts';
import type { ConfigurationTools } from '../../deeds/create-draft.ts';
import { namesValidator, notModified } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { hashInBlocks } from '../../lib/hash.ts';
import type { BundleEntry } from '../../resolve/manifest-maker.ts';
import type { GitStore, RepositoryRef, StoredFile } from '../../versions/store.ts';
import { grantedRoutes } from '../shared/versioned.ts';
import { findVersion, reads } from './version-routes.ts';

const TAGS = ['Configuration versions'];
/** The name of the hashed form. A ZIP of another form must have another ETag. */
const FORM = 'hawser-archive-1';

export type ArchiveTools = ConfigurationTools & { bundles: BundleDownloads };

export function archiveRoute(tools: ArchiveTools): Route {
  const { database, store, bundles } = tools;
  const { reading } = grantedRoutes(database, TAGS, { on: 'configuration' });
  return reading.own('GET', '/api/v1/configurations/{name}/versions/{version}/archive', {
    bound: 'user',
    id: 'downloadConfigurationArchive',
    summary: "Download a version's files as a ZIP",
    description:
      'The files as they were uploaded, without merged parameters, and with their executable bits. Equal files make ' +
      'equal bytes and an equal ETag, whatever the version. The ZIP can be uploaded as `archive` of a new version.',
    problems: ['overloaded', ...READING_REPOSITORIES],
    answers: {
      200: { description: 'The archive', mediaType: 'application/zip', headers: ZIP_HEADERS },
      // This answer needs no archive, so it has none of its headers.
      304: { description: 'The caller has these files already', headers: {} },
    },
    handle: ({ principal, resource: { id, name }, params, facts }) =>
      reads(tools, { id, name }, async (repository) => {
        const { version, files } = await findVersion(store, repository, params['version'] ?? '');
        const validator = await digestOf(files);
        const held = facts.header('if-none-match');
        if (held !== undefined && namesValidator(held, `"${validator}"`)) return notModified(validator);
        const source = {
          checksum: `archive ${name} ${validator}`,
          files: async () => entriesOf(store, repository, files),
        };
        const bundle = await bundles.get(source, principal, facts);
        return zipDownload({ name, version, validator }, bundle);
      }),
  });
}

/** The list of a version's files never changes, and is the same object for as long as it is in memory. */
const digests = new WeakMap<readonly StoredFile[], string>();

/** A digest of the paths, contents and executable bits, in hexadecimal. */
async function digestOf(files: readonly StoredFile[]): Promise<string> {
  const known = digests.get(files);
  if (known !== undefined) return known;
  const listed = files.map(({ path, oid, executable }) => [path, oid, executable]);
  const digest = await hashInBlocks('sha256', Buffer.from(JSON.stringify([FORM, listed])));
  digests.set(files, digest);
  return digest;
}

function entriesOf(store: GitStore, repository: RepositoryRef, files: readonly StoredFile[]): BundleEntry[] {
  return files.map(({ path, oid, executable }) => ({
    path,
    executable,
    read: () => store.blob(repository, oid),
  }));
}
