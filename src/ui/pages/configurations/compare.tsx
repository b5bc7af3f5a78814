/** What differs between two versions of a configuration, file by file. */

import { CompareForm } from '../../components/compare-form.tsx';
import { ComparedFiles } from '../../components/compared-files.tsx';
import { CONFIGURATIONS_CRUMB } from '../../components/configuration-tabs.tsx';
import { DeedButton } from '../../components/dialog.tsx';
import { DiffModeChoice, useDiffMode } from '../../components/diff-mode.tsx';
import { Page } from '../../components/page.tsx';
import { useVersions } from '../../components/versions-part.tsx';
import { save } from '../../download.ts';
import { apiOf, links, rangeOf, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Comparison, Version } from '../../types.ts';

const KIND = 'configurations';

export function ComparePage({ name, range }: { name: string; range: string }) {
  const { from, to } = rangeOf(range);
  const mode = useDiffMode();
  const path = withQuery(apiOf(KIND, name, 'compare'), { from, to });
  const comparison = useResource<Comparison>(path);
  const versions = useVersions<Version>(KIND, name);
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
