/** What protects the things that a change set names, and who has approved it. */

import { send } from '../../client.ts';
import { DeedButton } from '../../components/dialog.tsx';
import { Mark } from '../../components/marks.tsx';
import { SimpleTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath } from '../../links.ts';
import { me } from '../../session.ts';
import type { ChangeSet } from '../../types.ts';
import type { Reasons } from './rights.ts';
import { isOpen, mayOverride, missesApprovals } from './rules.ts';
import { type Names, ThingLink } from './words.tsx';

/** Left out where nothing is protected. */
export function ProtectionPart({ set, names }: { set: ChangeSet; names: Names }) {
  if (set.protection.length === 0) return null;
  return (
    <section class="part">
      <h2>Protection</h2>
      <SimpleTable
        name="Protection"
        rows={set.protection}
        keyOf={({ by }) => JSON.stringify(by)}
        columns={[
          { label: 'Protects', isName: true, cell: ({ by }) => <ThingLink thing={by} names={names} /> },
          { label: 'Approvals', isNumber: true, cell: ({ approvals }) => approvals },
          { label: 'By', cell: ({ group }) => group ?? 'anybody who may change it' },
          {
            label: 'Missing',
            cell: ({ missing }) =>
              missing === 0 ? <Mark word="None" tone="good" /> : <Mark word={`${missing}`} tone="warn" />,
          },
        ]}
      />
    </section>
  );
}

interface ApprovalsProps {
  set: ChangeSet;
  reasons: Reasons;
  /** It is another one than the person has looked at. */
  isOld: boolean;
}

export function ApprovalsPart({ set, reasons, isOld }: ApprovalsProps) {
  const { approvals, digest } = set;
  if (!isOpen(set) && approvals.length === 0) return null;
  const path = apiPath('change-sets', String(set.id), 'approve');
  const name = me.value?.username;
  const isApproved = approvals.some((each) => each.by === name && each.digest === digest);
  const reason = reasons.approve ?? (isOld ? 'It has changed since you opened this page.' : null);
  return (
    <section class="part">
      <h2>Approvals</h2>
      {approvals.length === 0 ? (
        <p>Nobody has approved it.</p>
      ) : (
        <SimpleTable
          name="Approvals"
          rows={approvals}
          keyOf={({ by, digest: of }) => `${by} ${of}`}
          columns={[
            { label: 'Who', isName: true, cell: ({ by }) => by },
            { label: 'When', cell: ({ at }) => <Time at={at} exact /> },
            {
              label: 'Of',
              cell: ({ digest: of }) =>
                of === digest ? (
                  <Mark word="What it is now" tone="good" />
                ) : (
                  <Mark word="What it was before" tone="idle" />
                ),
            },
          ]}
        />
      )}
      {isOpen(set) && (
        <p class="deed">
          {isApproved ? (
            <DeedButton
              key="back"
              deed="Take back the approval"
              run={async () => {
                await send('DELETE', path);
                return 'Your approval was taken back.';
              }}
            />
          ) : (
            <DeedButton
              key="approve"
              deed="Approve"
              class={missesApprovals(set) && reason === null && !mayOverride(set) ? 'primary' : ''}
              isBusy={reasons.isBusy}
              reason={reasons.isBusy ? null : reason}
              run={async () => {
                await send('POST', path, { digest });
                return 'You have approved it as it is shown here.';
              }}
            />
          )}
        </p>
      )}
    </section>
  );
}
