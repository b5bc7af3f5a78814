/** `/api/v1/parameters/{scopeTypeId}/{configurationId}`: what a scope sets for a configuration, version by version. */

import { created, json, noContent } from '../../http/answer.ts';
import { WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { invalidField } from '../../lib/errors.ts';
import type { ParameterTools } from './checks.ts';
import { readFile, readText } from './content.ts';
import { type ChangedFile, deleteFile, publishFile, saveFile } from './files.ts';
import { readingRoutes } from './reading-routes.ts';
import {
  InSet,
  InVersion,
  NewParameterFile,
  OfScope,
  PARAMETER_FILE_FIELDS,
  ParameterFileForm,
  ParameterFileView,
} from './schemas.ts';
import { locationOf, type ShownFile, toParameterFile } from './views.ts';

const TAGS = ['Parameters'];
const SET = '/api/v1/parameters/{scopeTypeId}/{configurationId}';
const VERSION = `${SET}/versions/{version}`;

const modifying = { kind: 'grant', on: 'parameters', level: 'Modify', by: 'configurationId' } as const;
const managing = { ...modifying, level: 'Manage' } as const;

const WRITE_PROBLEMS = [
  'too_complex',
  ...['unknown_node', 'unknown_scope_value', 'scope_type_disabled'],
  ...['published_version', 'version_exists', 'draft_changed'],
  ...WRITING_REPOSITORIES,
];

export function parameterRoutes(tools: ParameterTools): Route[] {
  return [
    saveRoute(tools),
    ...readingRoutes(tools),
    publishRoute(tools),
    deleteRoute(tools),
    uploadRoute(tools),
  ];
}

function saveRoute(tools: ParameterTools): Route {
  return route({
    id: 'saveParameterDraft',
    method: 'PUT',
    path: SET,
    summary: 'Make a draft of a parameter file, or give one other content',
    description:
      "The content is kept byte for byte. What the schema of the version's major refuses is answered with 400 in " +
      'mode Strict, and kept with needsMigration in mode Warn. Nothing is required of one scope alone.',
    tags: TAGS,
    access: modifying,
    params: InSet,
    body: { kind: 'json', schema: NewParameterFile },
    answers: {
      200: { description: 'The draft as it is now', schema: ParameterFileView },
      201: { description: 'The new draft', schema: ParameterFileView },
    },
    problems: WRITE_PROBLEMS,
    async handle({ principal, resource, params, body, facts }) {
      const { version, scopeValue, contentType } = body;
      const reader = { documents: tools.documents, caller: principal.userId };
      const content = body.isPassthrough ? null : await readText(reader, body.content ?? '', contentType);
      const target = { resource, principal, actor: facts.actor };
      const name = { type: { id: params.scopeTypeId }, scopeValue, version };
      const saved = await saveFile(tools, target, name, { content });
      const shown = shownOf(resource, saved);
      const view = toParameterFile(shown);
      return saved.isNew ? created(locationOf(shown), view) : json(view);
    },
  });
}

function publishRoute(tools: ParameterTools): Route {
  return route({
    id: 'publishParameterVersion',
    method: 'PUT',
    path: `${VERSION}/publish`,
    summary: 'Publish a draft; nodes get it at their next poll',
    description: 'In mode Strict it is checked once more, as the schema may have changed since.',
    tags: TAGS,
    access: modifying,
    params: InVersion,
    query: OfScope,
    answers: { 200: { description: 'The published version', schema: ParameterFileView } },
    problems: [
      'scope_type_disabled',
      'already_published',
      [409, 'validation_failed'],
      'draft_changed',
      ...WRITING_REPOSITORIES,
    ],
    async handle({ principal, resource, params, query, facts }) {
      const target = { resource, principal, actor: facts.actor };
      const name = { type: { id: params.scopeTypeId }, ...query, version: params.version };
      return json(toParameterFile(shownOf(resource, await publishFile(tools, target, name))));
    },
  });
}

function deleteRoute(tools: ParameterTools): Route {
  return route({
    id: 'deleteParameterDraft',
    method: 'DELETE',
    path: VERSION,
    summary: 'Delete a draft',
    tags: TAGS,
    access: managing,
    params: InVersion,
    query: OfScope,
    answers: { 204: { description: 'The draft is gone' } },
    problems: ['published_version', 'draft_changed', ...WRITING_REPOSITORIES],
    async handle({ principal, resource, params, query, facts }) {
      const target = { resource, principal, actor: facts.actor };
      const name = { type: { id: params.scopeTypeId }, ...query, version: params.version };
      await deleteFile(tools, target, name);
      return noContent();
    },
  });
}

const FILE = { name: 'parametersFile', bytes: 5 * 1024 * 1024 };

function uploadRoute(tools: ParameterTools): Route {
  return route({
    id: 'uploadParameterFile',
    method: 'POST',
    path: '/api/v1/configurations/{name}/parameters/parameter-files',
    summary: 'Upload a parameter file as a draft, or publish it at once',
    description:
      'By the rules of the PUT of a draft; one that is there is given the content of the file, which is answered ' +
      'with 201 all the same. A file is YAML unless its name ends in .json, or it has neither that ending nor one of ' +
      'YAML and its media type is JSON. A file that cannot be published is not kept as a draft either.',
    tags: TAGS,
    access: { kind: 'grant', on: 'parameters', level: 'Modify' },
    body: { kind: 'upload', schema: ParameterFileForm, fields: PARAMETER_FILE_FIELDS, file: FILE },
    answers: { 201: { description: 'The draft or published version', schema: ParameterFileView } },
    problems: [...WRITE_PROBLEMS, 'already_published'],
    async handle({ principal, resource, body, file, facts }) {
      if (file === null) throw invalidField(`/${FILE.name}`, 'The form has no file', 'required');
      const { scopeTypeName, scopeValue, version, publish = false } = body;
      const reader = { documents: tools.documents, caller: principal.userId };
      const content = await readFile(reader, FILE.name, file);
      const target = { resource, principal, actor: facts.actor, gone: facts.over };
      const name = { type: { name: scopeTypeName }, scopeValue, version };
      const shown = shownOf(resource, await saveFile(tools, target, name, { content, publish }));
      return created(locationOf(shown), toParameterFile(shown));
    },
  });
}

function shownOf({ id }: { id: string }, file: ChangedFile): ShownFile {
  return { configurationId: id, ...file };
}
