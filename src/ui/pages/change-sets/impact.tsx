/** Whether a change set could be applied now, and whom it would touch. */

import { reasonAgainstProposing } from '../../basket.ts';
import { send } from '../../client.ts';
import { DeedButton } from '../../components/dialog.tsx';
import { Mark } from '../../components/marks.tsx';
import { PreviewResult } from '../../components/preview/result.tsx';
import { apiPath } from '../../links.ts';
import { usePlace } from '../../router.ts';
import type { ChangeSet, Preview } from '../../types.ts';
import { isOther, MISSING, missesApprovals } from './rules.ts';

type Said = NonNullable<ChangeSet['check']>['blockers'][number];

/** Blockers in the order in which applying would be refused, then what is only warned of. */
export function CheckPart({ set }: { set: ChangeSet }) {
  const { check } = set;
  if (check === null) return null;
  const { blockers, findings, canApply } = check;
  return (
    <section class="part">
      <h2>Check</h2>
      {missesApprovals(set) && (
        <p class="warning" data-code={MISSING}>
          Approvals are missing: see the protection.
        </p>
      )}
      {blockers.filter(isOther).map((said) => (
        <div key={`${said.deed} ${said.code}`} class="alert" role="alert" data-code={said.code}>
          <p>{sentenceOf(said)}</p>
          <p class="alert-foot">
            <code>{said.code}</code>
          </p>
        </div>
      ))}
      {findings.map((said) => (
        <p key={said.message} class="warning" data-code={said.code}>
          {sentenceOf(said)}
        </p>
      ))}
      {canApply && (
        <p>
          <Mark word="Can be applied" tone="good" />
        </p>
      )}
    </section>
  );
}

const sentenceOf = ({ deed, message }: Said) => `${deed === null ? '' : `Deed ${deed + 1}: `}${message}`;

const DEED = 'Preview impact';

/** The preview of exactly this set. Its id stands in the URL. */
export function ImpactPart({ set: { id, hiddenDeeds, previewId } }: { set: ChangeSet }) {
  const { query, setQuery } = usePlace();
  const shown = query.get('preview') || null;
  const show = (preview: string) => setQuery({ preview, 'preview-groups': null });
  return (
    <section class="part">
      <h2>Impact</h2>
      <p class="deed">
        <DeedButton
          deed={DEED}
          reason={reasonAgainstProposing() ?? (hiddenDeeds > 0 ? 'It has deeds that you may not see.' : null)}
          run={async () => {
            show((await send<Preview>('POST', apiPath('change-sets', String(id), 'preview'))).data.id);
            return null;
          }}
        />
        {previewId !== null && shown === null && (
          <button type="button" class="quiet" onClick={() => show(previewId)}>
            Show the last preview
          </button>
        )}
      </p>
      {shown !== null && (
        <PreviewResult
          key={shown}
          id={shown}
          deed={DEED}
          isOther={() => shown !== previewId}
          paramName="preview"
          isNarrowed={false}
          level={3}
          mode="unified"
        />
      )}
    </section>
  );
}
