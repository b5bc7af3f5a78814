/** `/api/v1/parameters/{scopeTypeId}/{configurationId}`: what a scope sets for a configuration, version by version. */

import { z } from 'zod';
import type { ParameterTools } from '../../deeds/parameter-checks.ts';
import { MAX_FILE_BYTES, readFile, readText } from '../../deeds/parameter-content.ts';
import { switchedOff } from '../../deeds/parameter-scopes.ts';
import { withObstacles } from '../../deeds/publish-obstacles.ts';
import { pushFolder } from '../../deeds/push-folder.ts';
import {
  deleteFile,
  type FileName,
  type FileTarget,
  findFile,
  judgeFile,
  publishFile,
  publishing,
  saveFile,
} from '../../deeds/put-parameters.ts';
import { fileWithdrawalEffect, offerFileAgain, withdrawFile } from '../../deeds/withdraw.ts';
import { created, json, noContent } from '../../http/answer.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { RequestFacts, Route } from '../../http/route.ts';
import { invalidField } from '../../lib/errors.ts';
import type { Comparer } from '../../resolve/comparer.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { fileBlocker } from '../../versions/rollout-rules.ts';
import { findBlockers } from '../../versions/rules.ts';
import type { BlameTools } from '../shared/blaming.ts';
import { PublishCheckView, toPublishCheck } from '../shared/publish-check.ts';
import { callerOf, ResourceRoutes } from '../shared/routes.ts';
import { type GrantedRoutes, grantedRoutes, PUBLISHING, SERIES } from '../shared/versioned.ts';
import { FileEffectView, FOLLOWING, takingBack } from '../shared/withdraw-routes.ts';
import { blameRoute } from './blame-route.ts';
import { compareRoute } from './compare-route.ts';
import { fileListRoute } from './file-list-routes.ts';
import { locationOf, readingRoutes, showNamed, toParameterFile } from './reading-routes.ts';
import {
  InSet,
  InVersion,
  NewParameterFile,
  OfFolder,
  OfScope,
  PARAMETER_FILE_FIELDS,
  PARAMETER_FOLDER_FIELDS,
  ParameterFileForm,
  ParameterFileView,
  ParameterFolderForm,
} from './schemas.ts';
import { secretRoutes } from './secret-routes.ts';

const TAGS = ['Parameters'];
const WRITE_PROBLEMS = [
  'too_complex',
  'publish_separately',
  ...[[400, 'secret_unreadable'] as const, 'secret_key_missing', 'upgrade_incomplete'],
  ...['unknown_node', 'unknown_scope_value', 'scope_type_disabled'],
  ...['published_version', 'version_exists', 'draft_changed'],
  ...WRITING_REPOSITORIES,
];
const PUBLISH_PROBLEMS = [
  'scope_type_disabled',
  'already_published',
  'change_set_required',
  [409, 'schema_unknown'],
  [409, 'validation_failed'],
  ...['secret_in_clear', [409, 'secret_unreadable'] as const, 'secret_key_missing'],
  'draft_changed',
  'rollout_running',
  ...WRITING_REPOSITORIES,
] as const;
const FILE = { name: 'parametersFile', bytes: MAX_FILE_BYTES };

const VERSION = '/api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}';

export function parameterRoutes(
  tools: ParameterTools & BlameTools & FleetTools & { comparer: Comparer },
): Route[] {
  const { reading, modifying, managing } = grantedRoutes(tools.database, TAGS, SERIES);
  const named = grantedRoutes(tools.database, TAGS, { on: 'parameters', part: 'series' });
  return [
    saveRoute(tools, modifying),
    ...readingRoutes(tools),
    fileListRoute(tools),
    compareRoute(tools),
    blameRoute(tools),
    checkRoute(tools, reading),
    modifying.update(`${VERSION}/publish`, {
      id: 'publishParameterVersion',
      changesNodes: true,
      represents: VERSION,
      summary: 'Publish a draft; nodes get it at their next poll',
      description: 'In mode Strict it is checked once more, as the schema may have changed since.',
      params: InVersion,
      query: OfScope,
      body: PUBLISHING,
      answer: { description: 'The published version', schema: ParameterFileView },
      problems: PUBLISH_PROBLEMS,
      handle: async (call) =>
        toParameterFile(
          call.resource.id,
          await publishFile(tools, targetOf(call), nameOf(call), call.body.message),
        ),
    }),
    ...withdrawRoutes(tools),
    managing.delete(VERSION, {
      id: 'deleteParameterDraft',
      summary: 'Delete a draft',
      params: InVersion,
      query: OfScope,
      answer: { description: 'The draft is gone' },
      problems: ['published_version', 'draft_changed', ...WRITING_REPOSITORIES],
      handle: (call) => deleteFile(tools, targetOf(call), nameOf(call)),
    }),
    uploadRoute(tools, named.modifying),
    folderRoute(tools),
    ...secretRoutes(tools),
  ];
}

interface Call {
  principal: UserPrincipal;
  resource: GrantedResource;
  facts: RequestFacts;
}

function targetOf(call: Call): FileTarget {
  return { kind: 'parameters', resource: call.resource, ...callerOf(call) };
}

/** The version that path and query name. */
function nameOf(call: {
  params: { scopeTypeId: string; version: string };
  query: { scopeValue?: string | undefined };
}): FileName {
  const { scopeTypeId: id, version } = call.params;
  return { type: { id }, ...call.query, version };
}

function checkRoute(tools: ParameterTools, reading: GrantedRoutes): Route {
  return reading.get(`${VERSION}/publish-check`, {
    id: 'checkParameterPublish',
    summary: 'See what publishing a draft would answer',
    description:
      'Nothing is changed. `already_published` of a published version. Nothing is compared or found.',
    params: InVersion,
    query: OfScope,
    answer: { description: 'What stands in the way', schema: PublishCheckView },
    problems: READING_REPOSITORIES,
    async handle({ params, query, resource, principal, facts: { now } }) {
      const target = { resource, principal };
      const { type, scope, index, ref } = await findFile(tools, target, nameOf({ params, query }));
      const found = await findBlockers(
        ref,
        async (draft) => (await judgeFile(tools, target, draft)).blockers,
      );
      const off = switchedOff(type);
      const rolling = fileBlocker(
        await tools.store.versions({ kind: 'configurations', name: resource.name }),
      );
      const deed = publishing(target, { type, scope }, ref.version);
      const blockers = await withObstacles(tools, { deed, rolling, ref, now }, [
        ...(off ? [off] : []),
        ...found,
      ]);
      const comparedWith = index.highestPublishedBelow(ref)?.version ?? null;
      return toPublishCheck({ blockers, findings: [], compatibility: null, comparedWith });
    },
  });
}

function withdrawRoutes(tools: ParameterTools & FleetTools): Route[] {
  return takingBack(tools.database, {
    access: SERIES,
    tags: TAGS,
    path: VERSION,
    params: InVersion,
    query: OfScope,
    ids: { withdraw: 'withdrawParameterVersion', offer: 'offerParameterVersionAgain' },
    description: '',
    answer: z
      .union([ParameterFileView, FileEffectView])
      .meta({ id: 'ParameterWithdrawal', examples: [FOLLOWING] }),
    effect: ({ caller: { principal }, resource, ...named }) =>
      fileWithdrawalEffect(tools, { kind: 'parameters', resource, principal }, nameOf(named)),
    async withdraw({ caller, resource, ...named }, reason) {
      await withdrawFile(tools, { kind: 'parameters', resource, ...caller }, nameOf(named), { reason });
      return showNamed(tools, { principal: caller.principal, resource, ...named });
    },
    offer: ({ caller, resource, ...named }) =>
      offerFileAgain(tools, { kind: 'parameters', resource, ...caller }, nameOf(named)),
  });
}

function saveRoute(tools: ParameterTools, modifying: GrantedRoutes): Route {
  return modifying.own('PUT', '/api/v1/parameters/{scopeTypeId}/{configurationId}', {
    id: 'saveParameterDraft',
    represents: VERSION,
    namedInBody: ({ version, scopeValue }) => ({
      params: { version },
      query: typeof scopeValue === 'string' ? { scopeValue } : {},
    }),
    summary: 'Make a draft of a parameter file, or give one other content',
    description:
      "The content is kept byte for byte. What the schema of the version's major refuses is answered with 400 in " +
      'mode Strict, and kept with needsMigration in mode Warn. Nothing is required of one scope alone. If-Match takes ' +
      'the ETag of the version that the body names.',
    params: InSet,
    body: { kind: 'json', schema: NewParameterFile },
    answers: {
      200: { description: 'The draft as it is now', schema: ParameterFileView },
      201: { description: 'The new draft', schema: ParameterFileView },
    },
    problems: WRITE_PROBLEMS,
    async handle({ params, body, ...call }) {
      const { version, scopeValue, contentType, message } = body;
      const reader = { documents: tools.documents, caller: call.principal.userId };
      const content = body.isPassthrough ? null : await readText(reader, body.content ?? '', contentType);
      const name = { type: { id: params.scopeTypeId }, scopeValue, version };
      const saved = await saveFile(tools, targetOf(call), name, { content, message });
      const { id } = call.resource;
      const view = toParameterFile(id, saved);
      return saved.isNew ? created(locationOf(id, saved), view) : json(view);
    },
  });
}

function uploadRoute(tools: ParameterTools, modifying: GrantedRoutes): Route {
  return modifying.own('POST', '/api/v1/configurations/{name}/parameters/parameter-files', {
    id: 'uploadParameterFile',
    changesNodes: ({ body }) => body.publish === true,
    summary: 'Upload a parameter file as a draft, or publish it at once',
    description:
      'By the rules of the PUT of a draft; one that is there is given the content of the file, which is answered ' +
      'with 201 all the same. A file is YAML unless its name ends in .json, or it has neither that ending nor one of ' +
      'YAML and its media type is JSON. A file that cannot be published is not kept as a draft either.',
    body: { kind: 'upload', schema: ParameterFileForm, fields: PARAMETER_FILE_FIELDS, file: FILE },
    answers: { 201: { description: 'The draft or published version', schema: ParameterFileView } },
    problems: [...WRITE_PROBLEMS, 'already_published', 'rollout_running', 'change_set_required'],
    async handle({ body, file, ...call }) {
      if (file === null) throw invalidField(`/${FILE.name}`, 'The form has no file', 'required');
      const { scopeTypeName, scopeValue, version, publish = false, message } = body;
      const reader = { documents: tools.documents, caller: call.principal.userId };
      const content = await readFile(reader, FILE.name, file, 'findAmbiguous');
      const name = { type: { name: scopeTypeName }, scopeValue, version };
      const target = { ...targetOf(call), gone: call.facts.over };
      const saved = await saveFile(tools, target, name, { content, publish, message });
      const { id } = call.resource;
      return created(locationOf(id, saved), toParameterFile(id, saved));
    },
  });
}

function folderRoute(tools: ParameterTools): Route {
  const forUsers = new ResourceRoutes(tools.database, { tags: TAGS, access: { kind: 'user' } });
  return forUsers.own('POST', '/api/v1/configurations/parameter-folder', {
    id: 'pushParameterFolder',
    besideNames: '/api/v1/configurations/{name}',
    changesNodes: ({ query }) => query.publish === true,
    summary: 'Make drafts of a folder of parameter files, or publish them',
    description:
      'Parts named `files`, or one part `archive` (ZIP), with the paths `parameters/<configuration>/<ScopeType>/<value>.yaml` ' +
      'and `parameters/<configuration>/Default.yaml`; an empty file that ends in `.passthrough` in place of `.yaml` is a ' +
      'passthrough. Needs Modify on each file. A file whose content is not what its scope gives now to the highest published ' +
      'version of the configuration becomes a draft of its major: the next free patch above what is published there. A draft ' +
      'that has the content is named in place of a new one, and none is replaced. All is checked first, by the rules of the ' +
      'PUT of a draft; after a refusal nothing was made, and `errors` begin with the path of the file. With `publish` the ' +
      'drafts are published one by one; the first refusal ends that, and the rest stay drafts.',
    query: OfFolder,
    body: { kind: 'upload', schema: ParameterFolderForm, fields: PARAMETER_FOLDER_FIELDS },
    answers: {
      200: {
        description: 'The drafts, or what was published, by configuration, precedence and value',
        schema: ParameterFileView.array(),
      },
      204: { description: 'Nothing differs' },
    },
    problems: [[404, 'not_found'], ...WRITE_PROBLEMS, ...PUBLISH_PROBLEMS],
    async handle({ body: { message }, query: { publish = false }, files, ...call }) {
      const pushed = await pushFolder(tools, callerOf(call), {
        ...{ files, message, publish, gone: call.facts.over },
      });
      if (pushed.length === 0) return noContent();
      return json(pushed.map(({ configurationId, ...file }) => toParameterFile(configurationId, file)));
    },
  });
}
