/** One change set: what it does, whom that touches, what stands in its way, and the button that does it. */

import { useState } from 'preact/hooks';
import { HIDDEN } from '../../basket.ts';
import { ApiProblem, send } from '../../client.ts';
import { DeedButton } from '../../components/dialog.tsx';
import { Mark } from '../../components/marks.tsx';
import { Page } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath, links } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { me } from '../../session.ts';
import type { ChangeSet } from '../../types.ts';
import { ApprovalsPart, ProtectionPart } from './approvals.tsx';
import { CollectButton, DeedsPart } from './deeds.tsx';
import { ApplyDialog, DiscardDialog, EditDialog, RevertDialog } from './dialogs.tsx';
import { CheckPart, ImpactPart } from './impact.tsx';
import { isOpen, reasonAgainstApplying } from './rules.ts';
import { useNames } from './words.tsx';

const CRUMBS = [{ href: links.changeSets(), label: 'Change sets' }];
const DIALOGS = { apply: ApplyDialog, edit: EditDialog, discard: DiscardDialog, revert: RevertDialog };

interface Asked {
  dialog: keyof typeof DIALOGS;
  /** As it was when the person decided. */
  seen: ChangeSet;
  etag: string | null;
}

export function ChangeSetPage({ id }: { id: string }) {
  return <ChangeSetView key={id} id={id} />;
}

function ChangeSetView({ id }: { id: string }) {
  const set = useResource<ChangeSet>(apiPath('change-sets', id));
  const { data, etag } = set;
  const looked = useLooked(data);
  const [asked, setAsked] = useState<Asked | null>(null);
  const Asked = asked === null ? null : DIALOGS[asked.dialog];
  return (
    <Page
      heading={data?.title ?? `Change ${id}`}
      of={[set]}
      crumbs={CRUMBS}
      beside={
        data !== null && (
          <>
            <Mark word={data.state} /> <span class="muted">Change {data.id}</span>
          </>
        )
      }
      actions={
        data !== null && (
          <Actions
            set={data}
            isOld={looked.isOld}
            onAsk={(dialog) => setAsked({ dialog, seen: data, etag })}
          />
        )
      }
    >
      {data !== null && (
        <div class="review">
          {looked.isOld && (
            <p class="warning" role="status">
              The change set, or a draft that it names, has changed since you opened this page.{' '}
              <button type="button" class="small" onClick={looked.look}>
                Go on with it as it is now
              </button>
            </p>
          )}
          <Story set={data} />
          <Content set={data} etag={etag} looked={looked} />
        </div>
      )}
      {Asked !== null && asked !== null && (
        <Asked seen={asked.seen} etag={asked.etag} onKnown={looked.know} onClose={() => setAsked(null)} />
      )}
    </Page>
  );
}

function Content({ set, etag, looked }: { set: ChangeSet; etag: string | null; looked: Looked }) {
  const names = useNames();
  return (
    <>
      <DeedsPart {...{ set, etag, names }} onKnown={looked.know} />
      {isOpen(set) && <CheckPart set={set} />}
      <ProtectionPart set={set} names={names} />
      <ApprovalsPart set={set} isOld={looked.isOld} />
      {isOpen(set) && <ImpactPart set={set} />}
    </>
  );
}

export interface Looked {
  /** It is another one than the person has seen. */
  isOld: boolean;
  look(): void;
  /** The person has made it this one. */
  know(digest: string): void;
}

/** Which states of the set the person has looked at: nothing else is approved or applied. */
function useLooked(set: ChangeSet | null): Looked {
  const [known, setKnown] = useState<readonly string[]>([]);
  const digest = set?.digest ?? null;
  const know = (seen: string) => setKnown((before) => [...before, seen]);
  if (digest !== null && known.length === 0) setKnown([digest]);
  return {
    isOld: digest !== null && known.length > 0 && !known.includes(digest),
    look: () => digest !== null && know(digest),
    know,
  };
}

interface ActionsProps {
  set: ChangeSet;
  isOld: boolean;
  onAsk: (dialog: Asked['dialog']) => void;
}

/** One main button, and what else the state allows. */
function Actions({ set, isOld, onAsk }: ActionsProps) {
  const { state, hiddenDeeds } = set;
  if (state === 'Applied')
    return (
      <button type="button" onClick={() => onAsk('revert')}>
        Take back
      </button>
    );
  if (!isOpen(set)) return null;
  const reason = isOld ? 'It has changed since you opened this page.' : reasonAgainstApplying(set);
  return (
    <>
      {state === 'Open' ? (
        <span class="deed">
          <button
            type="button"
            class="primary"
            disabled={reason !== null}
            aria-describedby={reason === null ? undefined : 'apply-reason'}
            onClick={() => onAsk('apply')}
          >
            Apply
          </button>
          {reason !== null && (
            <span id="apply-reason" class="hint">
              {reason}
            </span>
          )}
        </span>
      ) : (
        <DeedButton
          deed="Cancel the schedule"
          run={async () => {
            await send('DELETE', apiPath('change-sets', String(set.id), 'apply'));
            return 'It is not scheduled any more. Its approvals stay.';
          }}
        />
      )}
      {state === 'Open' && hiddenDeeds === 0 && <CollectButton id={set.id} />}
      {hiddenDeeds === 0 && (
        <button type="button" onClick={() => onAsk('edit')}>
          Edit
        </button>
      )}
      {(hiddenDeeds === 0 || set.createdBy === me.value?.username) && (
        <button type="button" onClick={() => onAsk('discard')}>
          Discard
        </button>
      )}
    </>
  );
}

/** Who has made it, and what became of it. */
function Story({ set }: { set: ChangeSet }) {
  const { description, createdBy, createdAt, appliedAt, appliedBy, applyAt, failure, override } = set;
  return (
    <section class="part" aria-label="Story">
      {description !== null && <p class="message">{description}</p>}
      {failure !== null && (
        <Problem problem={new ApiProblem(0, { code: failure.code, detail: failure.message })}>
          It could not be applied at its time. Nothing was changed.
        </Problem>
      )}
      {override !== null && (
        <p class="warning">
          {override.by} has passed the missing approvals, <Time at={override.at} exact />: {override.reason}
        </p>
      )}
      <dl class="facts">
        <dt>Made</dt>
        <dd>
          <Time at={createdAt} exact /> by {createdBy}
        </dd>
        {applyAt !== null && set.state === 'Scheduled' && (
          <>
            <dt>Scheduled</dt>
            <dd>
              <Time at={applyAt} exact />. What stops it then, such as a freeze, makes it Failed.
            </dd>
          </>
        )}
        {appliedAt !== null && (
          <>
            <dt>Applied</dt>
            <dd>
              <Time at={appliedAt} exact /> by {appliedBy}
            </dd>
          </>
        )}
        <SetLink label="Takes back" id={set.revertOf} />
        <SetLink label="Taken back by" id={set.revertedBy} />
        {set.hiddenDeeds > 0 && isOpen(set) && (
          <>
            <dt>Editing</dt>
            <dd>{HIDDEN}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function SetLink({ label, id }: { label: string; id: number | null }) {
  if (id === null) return null;
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <a href={links.changeSet(id)}>Change {id}</a>
      </dd>
    </>
  );
}
