/** The parameter files of a configuration: which scope sets values for which major version. */

import { useState } from 'preact/hooks';
import { CONFIGURATIONS_CRUMB, ConfigurationTabs } from '../../components/configuration-tabs.tsx';
import { Empty } from '../../components/empty.tsx';
import { Filters } from '../../components/filters.tsx';
import { Page } from '../../components/page.tsx';
import { Count, Pager } from '../../components/table.tsx';
import { apiPath, withQuery } from '../../links.ts';
import { type List, useList } from '../../list.ts';
import { type Resource, useResource } from '../../resource.ts';
import type { Configuration, ParameterFile, ScopeType, Version } from '../../types.ts';
import { MatrixTable } from './matrix-table.tsx';
import { MOST, majorsOf, mayChange } from './model.ts';
import { NewFileDialog } from './new-file-dialog.tsx';
import { SchemaPart } from './schema-part.tsx';

const FILTERS = ['scopeTypeName', 'scopeValue', 'status'];

export function ParametersPage({ name }: { name: string }) {
  const of = apiPath('configurations', name);
  const list = useList<ParameterFile>(`${of}/parameter-files`, {
    ...{ filters: FILTERS, size: MOST, sorts: false },
  });
  const types = useResource<ScopeType[]>(withQuery('/scope-types', { take: MOST }));
  // Somebody may see the parameters and not the configuration. These two are then left out.
  const configuration = useResource<Configuration>(of);
  const versions = useResource<Version[]>(withQuery(`${of}/versions`, { take: MOST }));
  const [isAsking, setAsking] = useState(false);
  const isChangeable = mayChange({ configuration });
  const majors = majorsOf(versions.data ?? [], list.rows);
  return (
    <Page
      heading={name}
      tab="Parameters"
      of={[list.resource, types]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy || [configuration, versions].some(({ state }) => state === 'loading')}
      crumbs={[CONFIGURATIONS_CRUMB]}
      actions={
        isChangeable && (
          <button type="button" class="primary" onClick={() => setAsking(true)}>
            New file
          </button>
        )
      }
      tools={
        <>
          <ConfigurationTabs name={name} current="Parameters" configuration={configuration.data} />
          <Filters list={list} fields={fieldsFor(types)} />
        </>
      }
    >
      {configuration.data?.useServerManagedParameters === false && <NotUsed />}
      <Matrix {...{ name, list, isChangeable, majors }} types={types.data ?? []} />
      <SchemaPart name={name} versions={versions.data ?? []} isChangeable={isChangeable} />
      {isAsking && (
        <NewFileDialog
          {...{ name, majors }}
          types={types.data ?? []}
          files={list.rows}
          onClose={() => setAsking(false)}
        />
      )}
    </Page>
  );
}

function fieldsFor(types: Resource<ScopeType[]>) {
  return [
    {
      ...{ name: 'scopeTypeName', label: 'Scope type' },
      choices: (types.data ?? []).map((type) => type.name),
    },
    { name: 'scopeValue', label: 'Scope value' },
    { name: 'status', label: 'Status', choices: ['Draft', 'Published'] },
  ];
}

function NotUsed() {
  return (
    <p class="note">
      Nodes do not get these files: the configuration brings its parameters itself. Its Settings can change
      this.
    </p>
  );
}

interface MatrixProps {
  name: string;
  list: List<ParameterFile>;
  types: readonly ScopeType[];
  majors: readonly string[];
  isChangeable: boolean;
}

function Matrix({ name, list, types, majors, isChangeable }: MatrixProps) {
  const isEmpty = list.total === 0 && (list.isFiltered || !isChangeable);
  return (
    <section class="part">
      <h2>Parameter files</h2>
      <p class="muted">
        Each cell shows the version that nodes get, and the drafts. What a lower row sets overrides what the
        rows above it set.
      </p>
      {isEmpty ? (
        <Empty>
          <p>{list.isFiltered ? 'No file meets these filters.' : 'No scope has a parameter file yet.'}</p>
        </Empty>
      ) : (
        <MatrixTable {...{ name, list, types, majors, isChangeable }} />
      )}
      <div class="table-foot">
        <Count shown={list.rows.length} total={list.total} />
        {list.pageCount > 1 && <Pager list={list} />}
      </div>
    </section>
  );
}
