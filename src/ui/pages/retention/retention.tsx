/** What is kept and what goes: the rules, a dry run, the cleanup, and the runs of the past. */

import { useEdit } from '../../components/edit-form.tsx';
import { ForbiddenPage, Page } from '../../components/page.tsx';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { RetentionSettings } from '../../types.ts';
import { Cleanup } from './cleanup.tsx';
import { overridesOf, Rules, type RuleTexts, textsOf } from './rules.tsx';
import { Runs } from './runs.tsx';

export function RetentionPage() {
  if (can('server.settings.read')) return <WithRules />;
  if (can('retention.manage')) return <WithoutRules />;
  return <ForbiddenPage heading="Retention" />;
}

function WithRules() {
  const rules = useResource<RetentionSettings>('/settings/retention');
  const { data } = rules;
  return (
    <Page heading="Retention" of={[rules]}>
      {data !== null && <Content rules={data} etag={rules.etag} />}
    </Page>
  );
}

/** Without the permission to read settings, cleanups follow rules that are not shown. */
function WithoutRules() {
  return (
    <Page heading="Retention">
      <Cleanup overrides={null} />
      <Runs />
    </Page>
  );
}

function Content({ rules, etag }: { rules: RetentionSettings; etag: string | null }) {
  const edit = useEdit<RuleTexts>(textsOf(rules), etag);
  return (
    <>
      <Rules edit={edit} />
      {can('retention.manage') && (
        <>
          <Cleanup overrides={overridesOf(edit.value)} />
          <Runs />
        </>
      )}
    </>
  );
}
