/** What differs between two versions of a composite, child by child. */

import { CompareForm } from '../../components/compare-form.tsx';
import { crumbsOf } from '../../components/draft-parts.tsx';
import { Page } from '../../components/page.tsx';
import { apiOf, links, rangeOf, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { CompositeComparison } from '../../types.ts';
import { ChangedChildren } from './changed-children.tsx';
import { KIND, useComposite } from './shared.tsx';

export function CompositeComparePage({ name, range }: { name: string; range: string }) {
  const { from, to } = rangeOf(range);
  const comparison = useResource<CompositeComparison>(withQuery(apiOf(KIND, name, 'compare'), { from, to }));
  const composite = useComposite(name);
  const { data } = comparison;
  return (
    <Page
      heading={`${name} ${from}...${to}`}
      of={[comparison]}
      isEmpty={data?.children.every(({ change }) => change === 'Unchanged') ?? false}
      crumbs={crumbsOf(KIND, name)}
      tools={
        <div class="bar">
          <CompareForm
            key={range}
            {...{ kind: KIND, name, range: { from, to } }}
            versions={composite.data?.versions ?? []}
          />
          <span class="actions">
            <a href={links.compare(KIND, name, to, from)}>Swap</a>
          </span>
        </div>
      }
    >
      {data !== null && <ChangedChildren comparison={data} />}
    </Page>
  );
}
