/** The scope of a grant on parameters: in a list, in the form of a new one, and as the API names it. */

import { useState } from 'preact/hooks';
import { get } from '../client.ts';
import { apiPath, withQuery } from '../links.ts';
import { useResource } from '../resource.ts';
import type { Grant, NodeSummary, ScopeType, ScopeValue } from '../types.ts';
import { CheckField, Field, SelectField } from './field.tsx';

/** The most that one page of a list has. */
const MOST = 1_000;
const ALL = '';

/** The scope as people write it. */
export function scopeOf({ scopeTypeName, scopeValue }: Grant): string {
  if (!scopeTypeName) return 'All';
  return scopeValue ? `${scopeTypeName}/${scopeValue}` : scopeTypeName;
}

export function GrantedScope({ grant }: { grant: Grant }) {
  return (
    <>
      {scopeOf(grant)}
      {grant.restricted && <span class="muted"> (restricted)</span>}
    </>
  );
}

/** What a grant says of its scope, in a body and in a query. */
export interface ScopeIds {
  scopeTypeId?: string;
  scopeValueId?: string;
}

export function idsOf({ scopeTypeId, scopeValueId }: Grant): ScopeIds {
  return { ...(scopeTypeId && { scopeTypeId }), ...(scopeValueId && { scopeValueId }) };
}

/** The scope that a dialog asks for. It is that of the grant that changes, or the one that is chosen. */
export function useScopeChoice(grant: Grant | null, isAsked: boolean) {
  const types = useResource<ScopeType[]>(isAsked ? withQuery('/scope-types', { take: MOST }) : null, {
    poll: false,
  });
  const [typeId, setTypeId] = useState(ALL);
  const [value, setValue] = useState('');
  const [isRestricted, setRestricted] = useState(grant?.restricted ?? false);
  const type = types.data?.find(({ id }) => id === typeId);
  const path = type === undefined || type.isSystem ? null : apiPath('scope-types', type.id, 'values');
  const values = useResource<ScopeValue[]>(path && withQuery(path, { take: MOST }), { poll: false });
  const hasMark =
    grant === null
      ? type?.name === 'Default' || (type !== undefined && value.trim() !== '')
      : grant.scopeTypeName === 'Default' || Boolean(grant.scopeValueId);
  /** @throws ApiProblem where there is no such node */
  const resolve = async (): Promise<ScopeIds & { restricted?: boolean }> => {
    const mark = hasMark ? { restricted: isRestricted } : {};
    if (grant !== null) return { ...idsOf(grant), ...mark };
    if (type === undefined) return {};
    const wanted = value.trim();
    if (type.name === 'Default' || wanted === '') return { scopeTypeId: type.id, ...mark };
    if (type.name === 'Node') {
      const node = await get<NodeSummary>(apiPath('nodes', wanted));
      return { scopeTypeId: type.id, scopeValueId: node?.data.id ?? wanted, ...mark };
    }
    const known = values.data?.find((each) => each.value.toLowerCase() === wanted.toLowerCase());
    // The server says that there is no such value.
    return { scopeTypeId: type.id, scopeValueId: known?.id ?? wanted, ...mark };
  };
  const proposals = (values.data ?? []).map((each) => each.value);
  return {
    ...{ types: types.data ?? [], typeId, setTypeId, type, value, setValue, proposals },
    ...{ hasMark, isRestricted, setRestricted, resolve, isNew: grant === null },
  };
}

export function ScopeFields({ choice }: { choice: ReturnType<typeof useScopeChoice> }) {
  const { types, typeId, setTypeId, type, value, setValue, proposals } = choice;
  const { hasMark, isRestricted, setRestricted, isNew } = choice;
  return (
    <>
      {isNew && (
        <SelectField
          label="Scope"
          name="scopeTypeId"
          value={typeId}
          onInput={setTypeId}
          choices={[
            { value: ALL, label: 'All parameters' },
            ...types.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
      )}
      {isNew && type !== undefined && type.name !== 'Default' && (
        <Field
          label="Scope value"
          name="scopeValueId"
          hint={
            type.name === 'Node'
              ? 'The name of a node. None: all nodes.'
              : 'None: all values but restricted ones.'
          }
          value={value}
          onInput={setValue}
          list="granted-scope-values"
          autocomplete="off"
        />
      )}
      <datalist id="granted-scope-values">
        {proposals.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      {hasMark && (
        <CheckField
          label="Restricted"
          checked={isRestricted}
          onChange={setRestricted}
          hint="Only holders of a grant on this scope reach its parameters, until this is taken away."
        />
      )}
    </>
  );
}
