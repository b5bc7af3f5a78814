// everyday: SQLite
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createComposite } from '../support/composites.ts';
import { create } from '../support/configurations.ts';
import { DOCUMENT_FILE } from '../support/contract.ts';
import { startHawser } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';
import { createScopeType } from '../support/scopes.ts';
import { started } from '../support/started.ts';

/** A change of some members at once, and for each member what null makes of it: `unchanged`, or the value answered. */
interface Change {
  method: 'PUT' | 'PATCH';
  path: string;
  before: Record<string, unknown>;
  null: Record<string, unknown>;
}

const UNCHANGED = Symbol('unchanged');
const unchanged = (...names: string[]) => Object.fromEntries(names.map((name) => [name, UNCHANGED]));

const CHANGES: Change[] = [
  {
    method: 'PUT',
    path: '/api/v1/settings',
    before: { certificateRotationInterval: '30.00:00:00', stalenessMultiplier: 3 },
    null: unchanged('certificateRotationInterval', 'stalenessMultiplier', 'acceptNodes'),
  },
  {
    method: 'PUT',
    path: '/api/v1/settings/lcm-defaults',
    before: {
      defaultConfigurationMode: 'Remediate',
      defaultConfigurationModeInterval: '00:30:00',
      defaultReportCompliance: true,
    },
    null: {
      defaultConfigurationMode: null,
      defaultConfigurationModeInterval: null,
      defaultReportCompliance: null,
    },
  },
  {
    method: 'PUT',
    path: '/api/v1/settings/validation',
    before: {
      requireSemVer: false,
      defaultParameterValidationMode: 'Warn',
      defaultDocumentChecks: 'Strict',
      allowConfigurationOverride: true,
      allowParameterValidationOverride: true,
      pushIdentity: 'Committer',
    },
    null: unchanged(
      'requireSemVer',
      'defaultParameterValidationMode',
      'defaultDocumentChecks',
      'allowConfigurationOverride',
      'allowParameterValidationOverride',
      'pushIdentity',
    ),
  },
  {
    method: 'PUT',
    path: '/api/v1/settings/rollouts',
    before: { rolloutScopeType: 'Ring' },
    null: { rolloutScopeType: null },
  },
  {
    method: 'PUT',
    path: '/api/v1/settings/retention',
    before: {
      ...{ enabled: false, keepVersions: 3, keepDays: 4, keepReleaseVersions: false },
      ...{ scheduleIntervalHours: 5, reportKeepCount: 6, reportKeepDays: 7 },
      ...{ statusEventKeepCount: 8, statusEventKeepDays: 9, historyKeepDays: 10 },
    },
    null: unchanged(
      ...['enabled', 'keepVersions', 'keepDays', 'keepReleaseVersions', 'scheduleIntervalHours'],
      ...['reportKeepCount', 'reportKeepDays', 'statusEventKeepCount', 'statusEventKeepDays'],
      'historyKeepDays',
    ),
  },
  {
    method: 'PUT',
    path: '/api/v1/configurations/{name}/settings',
    before: {
      ...{ requireSemVer: true, parameterValidationMode: 'None', documentChecks: 'Warn', variables: 'On' },
    },
    // What the server's settings say, which the rows above have set.
    null: {
      ...{
        requireSemVer: false,
        parameterValidationMode: 'Warn',
        documentChecks: 'Strict',
        variables: 'Off',
      },
      ...unchanged('protection', 'signing'),
    },
  },
  {
    method: 'PUT',
    path: '/api/v1/composite-configurations/{name}/settings',
    before: {},
    null: unchanged('protection'),
  },
  {
    method: 'PUT',
    path: '/api/v1/configurations/{name}/settings/retention',
    before: { enabled: true, keepVersions: 3, keepDays: 4, keepReleaseVersions: false },
    null: { enabled: null, keepVersions: null, keepDays: null, keepReleaseVersions: null },
  },
  {
    method: 'PATCH',
    path: '/api/v1/configurations/{name}',
    before: { description: 'nginx', useServerManagedParameters: false },
    null: { description: null, ...unchanged('useServerManagedParameters') },
  },
];

interface Schema {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
}
interface Operation {
  requestBody?: { content: Record<string, { schema: Schema }> };
}

const document: {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
} = JSON.parse(readFileSync(DOCUMENT_FILE, 'utf8'));

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
const takesNull = (schema: Schema): boolean => {
  const { type = [], anyOf = [] } = resolved(schema);
  return [type].flat().includes('null') || anyOf.some(takesNull);
};

/** The JSON bodies of all changes, as `PUT /path` and its optional members. */
const bodies = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([method]) => method === 'put' || method === 'patch')
    .flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      if (schema === undefined) return [];
      const { properties = {}, required = [] } = resolved(schema);
      const optional = Object.entries(properties).filter(([name]) => !required.includes(name));
      return [{ method: method.toUpperCase(), path: path.replace(/(?<=.)\/$/, ''), optional }];
    }),
);

describe('null for a member of a change', () => {
  const hawser = started(startHawser);

  before(async () => {
    await ok(201, create(hawser.admin, 'web'));
    await ok(201, createComposite(hawser.admin, 'web'));
    await createScopeType(hawser, 'Ring', { valueMode: 'Restricted' });
  });

  it('is taken for every member that may be absent, by every PUT and PATCH', () => {
    expect(bodies.length).to.be.greaterThan(15);
    const refused = bodies.flatMap(({ method, path, optional }) =>
      optional.filter(([, schema]) => !takesNull(schema)).map(([name]) => `${method} ${path}: ${name}`),
    );
    expect(refused).to.deep.equal([]);
  });

  it('is tried below on all settings and in every PATCH, member by member', () => {
    const tried = CHANGES.map((change) => [
      `${change.method} ${change.path}`,
      Object.keys(change.null).sort(),
    ]);
    const there = bodies
      .filter(({ optional }) => optional.length > 0)
      .filter(({ method, path }) => method === 'PATCH' || /\/settings\b/.test(path))
      .map(({ method, path, optional }) => [`${method} ${path}`, optional.map(([name]) => name).sort()]);
    expect(tried).to.have.deep.members(there);
  });

  for (const { method, path, before, null: results } of CHANGES) {
    for (const [member, result] of Object.entries(results)) {
      const what = result === UNCHANGED ? 'leaves it as it is' : `makes it ${result}`;
      it(`${what}: ${member} of ${method} ${path}`, async () => {
        const address = path.replace('{name}', 'web');
        const change = (json: object) => ok(200, hawser.admin.call(method, address, { json }));
        const full = await change(before);
        expect(full).to.include(before);
        const after = result === UNCHANGED ? full : { ...full, [member]: result };
        const { updatedAt: _, ...shown } = await change({ [member]: null });
        expect({ ...after, ...shown }).to.deep.equal(after);
        // With a value beside it, too.
        const [other] = Object.keys(before).filter((name) => name !== member);
        if (other === undefined) return;
        const beside = await change({ ...before, [other]: before[other], [member]: null });
        expect(beside[member]).to.deep.equal(after[member]);
        expect(beside).to.include({ [other]: before[other] });
      });
    }
  }
});
