/** `/api/v1/configurations/{name}/check`: what publishing would find in a document, of which nothing is stored. */

import { z } from 'zod';
import type { ConfigurationTools } from '../../deeds/create-draft.ts';
import { DEFAULT_ENTRY_POINT } from '../../domain/bundle-paths.ts';
import { json } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { FindingView } from '../../http/schemas.ts';
import { sha256Hex } from '../../lib/hash.ts';
import { requireRow } from '../../versions/rows.ts';
import { checkDraft } from '../../versions/rules.ts';
import type { VersionDetails } from '../../versions/store.ts';
import { grantedRoutes } from '../shared/versioned.ts';
import { IGNORED_FILES, NEW_VERSION_FIELDS, NewVersion } from './schemas.ts';
import { reads } from './version-routes.ts';

const MIB = 1024 * 1024;
const FoundView = z.object({ findings: z.array(FindingView), ...IGNORED_FILES }).meta({
  id: 'DocumentCheck',
  examples: [{ findings: [], ignoredFiles: [] }],
});

export function checkRoute(tools: ConfigurationTools): Route {
  const { database, store, compatibility } = tools;
  const { modifying } = grantedRoutes(database, ['Configuration versions'], { on: 'configuration' });
  return modifying.own('POST', '/api/v1/configurations/{name}/check', {
    id: 'checkDocument',
    summary: 'See what is found in a document, or in the files of a version',
    description:
      'Nothing is stored. A form is one of an upload; any other body is one document, which is taken for the entry ' +
      'point of the highest version, and of which no files are looked for that it includes.',
    body: {
      kind: 'upload',
      schema: NewVersion,
      fields: NEW_VERSION_FIELDS,
      document: { bytes: 4 * MIB },
    },
    answers: { 200: { description: 'What is found, in order of line', schema: FoundView } },
    problems: ['reserved_path', ...READING_REPOSITORIES],
    logLevel: 'debug',
    handle: ({ principal, resource, body: form, files, ignoredFiles, file }) =>
      reads(tools, resource, async (repository) => {
        const row = await requireRow(database.read, 'configurations', resource.id);
        const isManaged = row.use_server_managed_parameters === 1;
        const [highest] = (await store.versions(repository)).versions;
        const model = highest && (await store.details(repository, highest));
        const entryPoint = form.entryPoint ?? model?.entryPoint ?? DEFAULT_ENTRY_POINT;
        const judging = { caller: principal.userId, isManaged };
        if (file !== null) {
          const read = { ...newFile(entryPoint, file.content), files: null };
          return json({ findings: await compatibility.lookAtNew(read, judging), ignoredFiles });
        }
        const { version = model?.version ?? '1.0.0', prereleaseChannel } = form;
        const named = { version, entryPoint, prereleaseChannel, files };
        const draft = checkDraft({ ...named, useServerManagedParameters: isManaged, requireSemVer: false });
        const content = files.find(({ path }) => path === draft.entryPoint)?.content ?? Buffer.alloc(0);
        const read = { ...newFile(draft.entryPoint, content), files };
        return json({ findings: await compatibility.lookAtNew(read, judging), ignoredFiles });
      }),
  });
}

/** A document that no repository holds. Its id is that of no Git object. */
function newFile(entryPoint: VersionDetails['entryPoint'], content: Buffer) {
  return { entryPoint, oid: `sha256:${sha256Hex(content)}`, load: async () => content };
}
