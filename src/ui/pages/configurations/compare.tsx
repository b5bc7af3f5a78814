/** What differs between two versions of a configuration, file by file. */

import { CompareForm } from '../../components/compare-form.tsx';
import { ComparedFiles } from '../../components/compared-files.tsx';
import { CONFIGURATIONS_CRUMB } from '../../components/configuration-tabs.tsx';
import { DeedButton } from '../../components/dialog.tsx';
import { DiffModeChoice, useDiffMode } from '../../components/diff-mode.tsx';
import { Page } from '../../components/page.tsx';
import { save } from '../../download.ts';
import { apiOf, links, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Comparison, Version } from '../../types.ts';
import { MOST_VERSIONS } from './configuration.tsx';

const KIND = 'configurations';

export function ComparePage({ name, range }: { name: string; range: string }) {
  const { from, to } = rangeOf(range);
  const mode = useDiffMode();
  const path = withQuery(apiOf(KIND, name, 'compare'), { from, to });
  const comparison = useResource<Comparison>(path);
  const versions = useResource<Version[]>(withQuery(apiOf(KIND, name, 'versions'), { take: MOST_VERSIONS }));
  const savePatch = async () => {
    await save(path, 'text/x-diff', `${name}-${from}...${to}.patch`);
    return null;
  };
  return (
    <Page
      heading={`${name} ${from}...${to}`}
      of={[comparison]}
      isEmpty={comparison.data?.files.length === 0}
      crumbs={[CONFIGURATIONS_CRUMB, { href: links.named(KIND, name), label: name }]}
      actions={<DeedButton deed="Download patch" run={savePatch} />}
      tools={
        <div class="bar">
          <CompareForm
            key={range}
            {...{ kind: KIND, name, range: { from, to } }}
            versions={versions.data ?? []}
          />
          <span class="bar actions">
            <a href={links.compare(KIND, name, to, from)}>Swap</a>
            <DiffModeChoice />
          </span>
        </div>
      }
    >
      {comparison.data !== null && <ComparedFiles name={name} comparison={comparison.data} mode={mode} />}
    </Page>
  );
}

/** Of `1.0.0...1.1.0`. Versions have no `..` in them. */
function rangeOf(range: string): { from: string; to: string } {
  const at = range.indexOf('...');
  return at < 0 ? { from: '', to: range } : { from: range.slice(0, at), to: range.slice(at + 3) };
}
