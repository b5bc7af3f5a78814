/** `/api/v1/configurations/{name}/versions/{version}/files/{*filePath}`: read, save and delete one file of a version. */

import type { LargeFiles } from '../../bundles/large-files.ts';
import type { ConfigurationTools } from '../../deeds/create-draft.ts';
import { type Answer, created, download, json } from '../../http/answer.ts';
import { mediaTypeOf } from '../../http/media-types.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import { RawFile, type Route } from '../../http/route.ts';
import { authorVersions } from '../../versions/author.ts';
import { deleteFile, existingPath, noSuchFile, saveFile } from '../../versions/draft-edits.ts';
import { callerOf } from '../shared/routes.ts';
import { type GrantedRoutes, grantedRoutes } from '../shared/versioned.ts';
import { VersionView } from './schemas.ts';
import { findVersion, reads, withFindings } from './version-routes.ts';

const FILE = '/api/v1/configurations/{name}/versions/{version}/files/{*filePath}';
const ETAG = 'That of the file, as GET of it has it';
const CHANGING_DRAFTS = ['published_version', 'draft_changed', ...WRITING_REPOSITORIES];

export type FileTools = ConfigurationTools & { largeFiles: LargeFiles };

export function fileRoutes(tools: FileTools): Route[] {
  const { reading, modifying } = grantedRoutes(tools.database, ['Configuration versions'], {
    on: 'configuration',
  });
  const kind = 'configurations';
  return [
    readRoute(tools, reading),
    modifying.own('PUT', FILE, {
      id: 'saveConfigurationFile',
      summary: 'Save a file of a draft',
      description:
        'The body is the file, whatever its media type. The rules of an upload hold for all files of the draft ' +
        'together. Each change is one commit on the branch of the draft; the same bytes again change nothing.',
      body: { kind: 'file', schema: RawFile },
      answers: {
        200: {
          description: 'The version, of which the file existed',
          schema: VersionView,
          headers: { ETag: ETAG },
        },
        201: {
          description: 'The version, of which the file is new',
          schema: VersionView,
          headers: { ETag: ETAG },
        },
      },
      problems: [
        ...['invalid_path', [400, 'validation_failed'] as const, 'reserved_path', 'too_many_files'],
        ...CHANGING_DRAFTS,
      ],
      async handle(input): Promise<Answer> {
        const { resource, params, body: content, facts } = input;
        const { version = '', filePath = '' } = params;
        const rawPath = filePath.replace(/\/$/, '');
        const target = { kind, resource, ...callerOf(input), gone: facts.over } as const;
        const { details, file, isNew } = await authorVersions(tools, target, (author, row) =>
          saveFile(tools, target, { author, row }, { version, rawPath, content }),
        );
        const location = addressOf(resource.name, version, file.path);
        const shown = await withFindings(tools, { ...target, facts }, details);
        const answer = isNew ? created(location, shown) : json(shown);
        return { ...answer, etag: `"${file.oid}"` };
      },
    }),
    modifying.delete(FILE, {
      id: 'deleteConfigurationFile',
      summary: 'Delete a file of a draft',
      description: 'Any file but the entry point.',
      answer: { description: 'The file is gone' },
      problems: ['entry_point_missing', ...CHANGING_DRAFTS],
      handle({ caller, resource, params, facts }) {
        const path = existingPath(params['filePath'] ?? '');
        const target = { kind, resource, ...caller, gone: facts.over } as const;
        return authorVersions(tools, target, (author) =>
          deleteFile(tools, target, author, { version: params['version'] ?? '', path }),
        );
      },
    }),
  ];
}

function readRoute(tools: FileTools, reading: GrantedRoutes): Route {
  return reading.own('GET', FILE, {
    bound: 'user',
    id: 'downloadConfigurationFile',
    summary: 'Download a file of a version',
    problems: ['overloaded', 'insufficient_storage', ...READING_REPOSITORIES],
    answers: {
      200: {
        description: 'The bytes, with the media type of the extension',
        mediaType: '*/*',
        headers: { 'Content-Disposition': '`attachment`' },
      },
    },
    async handle({ resource, params, facts, principal }) {
      const path = existingPath(params['filePath'] ?? '');
      return reads(tools, resource, async (repository) => {
        const { files } = await findVersion(tools.store, repository, params['version'] ?? '');
        const file = files.find((candidate) => candidate.path === path);
        if (file === undefined) throw noSuchFile();
        const read = () => tools.store.blob(repository, file.oid);
        const body = await tools.largeFiles.bodyOf(file.oid, read, {
          id: principal.userId,
          over: facts.over,
        });
        return download(body, mediaTypeOf(path), file.oid);
      });
    },
  });
}

function addressOf(name: string, version: string, path: string): string {
  const segments = path.split('/').map(encodeURIComponent).join('/');
  return `/api/v1/configurations/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}/files/${segments}`;
}
