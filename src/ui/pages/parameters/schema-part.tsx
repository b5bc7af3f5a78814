/** The schema of the newest version of a configuration: which parameters there are, and what each may be. */

import { useState } from 'preact/hooks';
import type { DocumentSchema } from '../../components/editor/settings.ts';
import { Empty } from '../../components/empty.tsx';
import { Mark } from '../../components/marks.tsx';
import { Part } from '../../components/page.tsx';
import { type Column, SimpleTable } from '../../components/table.tsx';
import { apiPath, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Version } from '../../types.ts';
import { type Parameter, parametersOf } from './schema.ts';
import { UploadSchemaDialog } from './upload-schema.tsx';

const COLUMNS: readonly Column<Parameter>[] = [
  {
    label: 'Name',
    isName: true,
    isLong: true,
    cell: ({ name, isSecure, isRequired }) => (
      <>
        <code>{name}</code> {isRequired && <Mark word="Required" tone="info" />}{' '}
        {isSecure && <Mark word="Secure" tone="warn" />}
      </>
    ),
  },
  { label: 'Type', cell: ({ type }) => type },
  {
    label: 'Default',
    isLong: true,
    cell: ({ byDefault }) =>
      byDefault === null ? <span class="muted">none</span> : <code>{byDefault}</code>,
  },
  { label: 'Allowed values', isLong: true, cell: ({ allowed }) => allowed || <span class="muted">any</span> },
  { label: 'Description', isLong: true, cell: ({ description }) => description },
];

interface SchemaProps {
  name: string;
  versions: readonly Version[];
  isChangeable: boolean;
}

export function SchemaPart({ name, versions, isChangeable }: SchemaProps) {
  const path = withQuery(apiPath('configurations', name, 'parameters'), { optional: 'true' });
  const schema = useResource<DocumentSchema | null>(path);
  const [isAsking, setAsking] = useState(false);
  return (
    <section class="part">
      <div class="part-head">
        <h2>Schema</h2>
        {isChangeable && (
          <button type="button" onClick={() => setAsking(true)}>
            Upload schema
          </button>
        )}
      </div>
      {schema.state === 'ready' && schema.data === null ? (
        <Empty>
          <p>
            There is no schema, so that every value is accepted. A <code>parameters</code> block in the entry
            point of a version is one, or an uploaded document with such a block.
          </p>
        </Empty>
      ) : (
        <Part of={schema}>{(read) => read !== null && <SchemaTable schema={read} />}</Part>
      )}
      {isAsking && <UploadSchemaDialog {...{ name, versions }} onClose={() => setAsking(false)} />}
    </section>
  );
}

function SchemaTable({ schema }: { schema: DocumentSchema }) {
  return (
    <>
      <p class="muted">It is that of the highest published version.</p>
      <SimpleTable
        name="Schema"
        rows={parametersOf(schema)}
        columns={COLUMNS}
        keyOf={({ name }) => name}
        none={
          <Empty>
            <p>The schema has no parameters.</p>
          </Empty>
        }
      />
    </>
  );
}
