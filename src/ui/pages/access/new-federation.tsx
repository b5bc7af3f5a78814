/** Makes a federation: which tokens of an issuer may become tokens of a service account, and what those may do. */

import { useState } from 'preact/hooks';
import { ApiProblem, type FieldProblem, send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Field, TextField } from '../../components/field.tsx';
import { ScopeChoice } from '../../components/token-scopes.tsx';

interface Wish {
  issuer: string;
  sub: string;
  /** A JSON object, because a text does not match a number; or nothing. */
  further: string;
  lifetimeMinutes: string;
}

const EMPTY: Wish = { issuer: '', sub: '', further: '', lifetimeMinutes: '15' };

interface NewFederationProps {
  /** The path of the federations in the API. */
  path: string;
  username: string;
  onClose: () => void;
}

export function NewFederation({ path, username, onClose }: NewFederationProps) {
  const [wish, setWish] = useState(EMPTY);
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set());
  const { issuer, sub, further, lifetimeMinutes } = wish;
  const run = async () => {
    const claims = { sub, ...readClaims(further) };
    const minutes = Number(lifetimeMinutes);
    await send('POST', path, { issuer, claims, scopes: [...scopes], lifetimeMinutes: minutes });
    return `Jobs with such a token of ${issuer} get tokens of ${username}.`;
  };
  return (
    <DeedDialog
      heading="New federation"
      deed="Create"
      isWide
      isDisabled={issuer === '' || sub === ''}
      onClose={onClose}
      run={run}
    >
      {(problem) => (
        <>
          <TokenFields wish={wish} onChange={setWish} problem={problem} />
          <Field
            label="Lifetime in minutes"
            name="lifetimeMinutes"
            type="number"
            min={1}
            max={60}
            hint="How long the tokens live that jobs get."
            required
            problem={problem}
            value={lifetimeMinutes}
            onInput={(minutes) => setWish({ ...wish, lifetimeMinutes: minutes })}
          />
          <ScopeChoice isOwn={false} chosen={scopes} onChange={setScopes} />
        </>
      )}
    </DeedDialog>
  );
}

interface TokenFieldsProps {
  wish: Wish;
  onChange: (wish: Wish) => void;
  problem: ApiProblem | null;
}

/** What the token of a job must say. */
function TokenFields({ wish, onChange, problem }: TokenFieldsProps) {
  return (
    <>
      <Field
        label="Issuer"
        name="issuer"
        hint="Exactly as the tokens of jobs name it in iss. HAWSER_FEDERATION_ISSUERS must name it too."
        autocomplete="off"
        required
        problem={problem}
        value={wish.issuer}
        onInput={(issuer) => onChange({ ...wish, issuer })}
      />
      <Field
        label="Subject (sub)"
        name="claims/sub"
        hint="Which job it is, such as repo:example/web:ref:refs/heads/main. Compared exactly."
        autocomplete="off"
        required
        problem={problem}
        value={wish.sub}
        onInput={(sub) => onChange({ ...wish, sub })}
      />
      <TextField
        label="Further claims"
        name="claims"
        hint={
          'A JSON object, such as {"repository_id": "123456"}. All must be there, with exactly these values.'
        }
        problem={atFurtherClaims(problem)}
        value={wish.further}
        onInput={(further) => onChange({ ...wish, further })}
      />
    </>
  );
}

const SUB = '/claims/sub';

/** @throws ApiProblem with a fault of the field */
function readClaims(text: string): object {
  if (text.trim() === '') return {};
  const claims = parse(text);
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims))
    throw faultOfClaims('It is not a JSON object');
  if ('sub' in claims) throw faultOfClaims('sub has a field of its own');
  return claims;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw faultOfClaims('It is not JSON');
  }
}

function faultOfClaims(message: string): ApiProblem {
  const errors: FieldProblem[] = [{ path: '/claims', message, code: 'custom' }];
  return new ApiProblem(0, { code: 'validation_failed', detail: 'The further claims are not valid', errors });
}

/** The faults of single claims stand below the one field that has them all. */
function atFurtherClaims(problem: ApiProblem | null): ApiProblem | null {
  if (problem === null) return null;
  const errors = problem.errors.map((fault) => {
    const path = fault.path ?? '';
    const isSingle = path.startsWith('/claims/') && path !== SUB;
    const name = path.slice('/claims/'.length);
    return isSingle ? { ...fault, path: '/claims', message: `${name}: ${fault.message}` } : fault;
  });
  return new ApiProblem(problem.status, { ...problem.body, errors }, problem.retryAfter);
}
