import { expect } from 'chai';
import fc from 'fast-check';
import { keyOfScope } from '../../../src/db/scope-grants.ts';
import { GRANT_LEVELS, type GrantLevel, type Permission } from '../../../src/domain/permissions.ts';
import {
  type GrantedLevels,
  levelOnScope,
  levelWith,
  type Rights,
  scopeReaderOf,
} from '../../../src/security/rights.ts';

const CONFIGURATION = 'web';
const TYPES = ['environment', 'region'] as const;
const VALUES = [null, 'one', 'two'] as const;

const scopeIds = TYPES.flatMap((scopeTypeId) =>
  VALUES.map((scopeValueId) => ({ configurationId: CONFIGURATION, scopeTypeId, scopeValueId })),
);

const level = fc.constantFrom(...GRANT_LEVELS);
const maybe = fc.option(level, { nil: null });
const anyScope = fc.constantFrom(...scopeIds);
const OVERRIDES: readonly Permission[] = ['parameters.admin-override', 'configurations.admin-override'];
const SCOPES = ['configurations.grants', 'parameters.grants'] as const;

const granted = fc
  .record({ configuration: maybe, parameters: maybe, scopes: fc.array(fc.tuple(anyScope, level)) })
  .map(({ configuration, parameters, scopes }): GrantedLevels => {
    const one = (held: GrantLevel | null) => new Map(held === null ? [] : [[CONFIGURATION, held]]);
    const keyed = new Map(scopes.map(([scope, held]) => [keyOfScope(scope), held]));
    return {
      configuration: one(configuration),
      parameters: one(parameters),
      composite: new Map(),
      scopes: keyed,
    };
  });

/** A session has no scopes; of a token they say which permissions and grants it uses. */
const owner = fc
  .subarray([...OVERRIDES])
  .map((held): Rights => ({ permissions: new Set(held), scopes: null }));
const tokenOf = ({ permissions }: Rights) =>
  fc.subarray<string>([...OVERRIDES, ...SCOPES]).map(
    (scopes): Rights => ({
      permissions: new Set([...permissions].filter((permission) => scopes.includes(permission))),
      scopes: new Set(scopes),
    }),
  );

const rank = (held: GrantLevel | null) => (held === null ? -1 : GRANT_LEVELS.indexOf(held));

describe('the level on the parameters of a scope', () => {
  it('of a restricted one is that granted on it alone, and Manage by the override of parameters', () => {
    fc.assert(
      fc.property(granted, owner, anyScope, (grants, rights, scope) => {
        const own = grants.scopes.get(keyOfScope(scope)) ?? null;
        const expected = rights.permissions.has('parameters.admin-override') ? 'Manage' : own;
        expect(levelOnScope(grants, rights, scope, true)).to.equal(expected);
      }),
    );
  });

  it('of any other one is the highest of the general one, that on the type, and that on the value', () => {
    fc.assert(
      fc.property(granted, owner, anyScope, (grants, rights, scope) => {
        const held = [
          levelWith(grants, rights, 'parameters', CONFIGURATION),
          grants.scopes.get(keyOfScope({ ...scope, scopeValueId: null })) ?? null,
          grants.scopes.get(keyOfScope(scope)) ?? null,
        ];
        expect(rank(levelOnScope(grants, rights, scope, false))).to.equal(Math.max(...held.map(rank)));
      }),
    );
  });

  it('of a token is never above that of its owner, and no mark raises one', () => {
    const asked = owner.chain((rights) => fc.tuple(fc.constant(rights), tokenOf(rights)));
    fc.assert(
      fc.property(granted, asked, anyScope, (grants, [rights, token], scope) => {
        for (const isRestricted of [true, false])
          expect(rank(levelOnScope(grants, token, scope, isRestricted))).to.be.at.most(
            rank(levelOnScope(grants, rights, scope, isRestricted)),
          );
        expect(rank(levelOnScope(grants, rights, scope, true))).to.be.at.most(
          rank(levelOnScope(grants, rights, scope, false)),
        );
      }),
    );
  });

  it('opens what is kept just where it opens the file, and of what is unknown only what all of it opens', () => {
    const marks = fc.uniqueArray(anyScope, { selector: keyOfScope });
    fc.assert(
      fc.property(granted, marks, anyScope, (grants, restricted, scope) => {
        const rights: Rights = { permissions: new Set(), scopes: null };
        const general = levelWith(grants, rights, 'parameters', CONFIGURATION);
        const isReadable = scopeReaderOf({
          ...{ configuration: [], composite: [], parameters: general === null ? [] : [CONFIGURATION] },
          scopes: { granted: [...grants.scopes.keys()], restricted: restricted.map(keyOfScope) },
        });
        const mayRead = (one: typeof scope) => {
          const isRestricted = restricted.some((mark) => keyOfScope(mark) === keyOfScope(one));
          return levelOnScope(grants, rights, one, isRestricted) !== null;
        };
        expect(isReadable(keyOfScope(scope))).to.equal(mayRead(scope));
        if (isReadable(`${CONFIGURATION}/?`))
          expect(scopeIds.filter((one) => !mayRead(one))).to.deep.equal([]);
      }),
    );
  });
});
